import type { ContentType } from '../../domain/content/content-type.ts';
import { type FieldValues, parseEntryEvent } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { FieldError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import type { ContentTypeDirectory } from '../ports/content-type-directory.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore, StreamGuard } from '../ports/event-store.ts';

export type RelatedDependencies = {
  readonly types: ContentTypeDirectory;
  readonly entryRows: EntryRows;
  readonly eventStore: EventStore;
};

export type FindMissingTargetsInput = {
  readonly type: ContentType;
  /** Field values of one or more entries of the type. */
  readonly sets: readonly FieldValues[];
  /** Reads the stream of every target. Default: only of those that the read model does not show. */
  readonly fromStreams?: boolean;
};

/**
 * Finds the targets of relations that do not exist.
 * @returns one list of errors for each set: `related entry not found: <id>`
 */
export async function findMissingTargets(
  { type, sets, fromStreams = false }: FindMissingTargetsInput,
  dependencies: RelatedDependencies,
): Promise<readonly (readonly FieldError[])[]> {
  const missing = new Map<string, ReadonlySet<string>>();
  for (const { key, definition } of relationsOf(type)) {
    const ids = new Set(sets.flatMap((values) => idsIn(ownValue(values, key))));
    if (ids.size === 0) continue;
    const target = await dependencies.types.get(type.tenant, definition.relation_to ?? '');
    if (target) {
      const shown = fromStreams ? [] : await dependencies.entryRows.existing(target, [...ids]);
      for (const id of shown) ids.delete(id);
      for (const id of ids) if (await isInStream({ type: target, id }, dependencies)) ids.delete(id);
    }
    missing.set(key, ids);
  }
  return targetProblems({ type, sets, isMissing: (key, id) => missing.get(key)?.has(id) === true });
}

/** The errors of the targets that are missing, one list for each set. `key`: of the relation's field. */
export function targetProblems({
  type,
  sets,
  isMissing,
}: Pick<FindMissingTargetsInput, 'type' | 'sets'> & {
  readonly isMissing: (key: string, id: string) => boolean;
}): readonly (readonly FieldError[])[] {
  return sets.map((values) =>
    relationsOf(type).flatMap(({ key }) =>
      idsIn(ownValue(values, key))
        .filter((id) => isMissing(key, id))
        .map((id) => ({ field: key, message: `related entry not found: ${id}` })),
    ),
  );
}

function relationsOf(type: ContentType): ReturnType<typeof storedFields> {
  return storedFields(type.definition).filter(({ definition }) => definition.field_type === 'relation');
}

/**
 * Guards of an append that writes these field values: each target of a relation exists, and is of the related type.
 * @returns undefined when a related type does not exist, so that `findMissingTargets` must name the fields
 */
export async function targetGuards(
  { type, sets }: { readonly type: ContentType; readonly sets: readonly FieldValues[] },
  { types }: Pick<RelatedDependencies, 'types'>,
): Promise<readonly StreamGuard[] | undefined> {
  const guards = new Map<string, StreamGuard>();
  for (const { key, definition } of relationsOf(type)) {
    const ids = sets.flatMap((values) => idsIn(ownValue(values, key)));
    if (ids.length === 0) continue;
    const target = await types.get(type.tenant, definition.relation_to ?? '');
    if (!target) return undefined;
    for (const id of ids) {
      const stream = streamName({ category: 'entry', tenant: type.tenant, id: id.toLowerCase() });
      guards.set(`${stream} ${target.id}`, {
        stream,
        notEndingWith: 'EntryDeleted',
        endingWith: { member: 'type_id', value: target.id },
      });
    }
  }
  return [...guards.values()];
}

/**
 * The guard of a target whose type is known: a stream keeps its type. The store refuses to compare the types of many
 * large events, because the log waits for it.
 */
export function withoutType({ stream, notEndingWith }: StreamGuard): StreamGuard {
  return { stream, notEndingWith };
}

/** The ids in the value of a relation. */
export function idsIn(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
}

/** Whether the entry exists according to the last event of its stream. The read model may not know it yet. */
async function isInStream(
  { type, id }: { readonly type: ContentType; readonly id: string },
  { eventStore }: Pick<RelatedDependencies, 'eventStore'>,
): Promise<boolean> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  for await (const event of eventStore.readStream(stream, { direction: 'backwards', limit: 1 })) {
    const last = parseEntryEvent(event);
    return last.type !== 'EntryDeleted' && last.data.type_id === type.id;
  }
  return false;
}
