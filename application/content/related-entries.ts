import type { ContentType } from '../../domain/content/content-type.ts';
import { type FieldValues, parseEntryEvent } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { FieldError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import type { ContentTypeDirectory } from '../ports/content-type-directory.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';

export type RelatedDependencies = {
  readonly types: ContentTypeDirectory;
  readonly rows: EntryRows;
  readonly eventStore: EventStore;
};

/**
 * Finds the targets of relations that do not exist.
 * @param input `sets`: field values of one or more entries of the type
 * @returns one list of errors for each set: `related entry not found: <id>`
 */
export async function findMissingTargets(
  { type, sets }: { readonly type: ContentType; readonly sets: readonly FieldValues[] },
  dependencies: RelatedDependencies,
): Promise<readonly (readonly FieldError[])[]> {
  const relations = storedFields(type.definition).filter(({ definition }) => definition.field_type === 'relation');
  const problems: FieldError[][] = sets.map(() => []);
  for (const { key, definition } of relations) {
    const ids = new Set(sets.flatMap((values) => idsIn(values[key])));
    if (ids.size === 0) continue;
    const target = await dependencies.types.get(type.tenant, definition.relation_to ?? '');
    const missing = new Set(ids);
    if (target) {
      for (const id of await dependencies.rows.existing(target, [...ids])) missing.delete(id);
      for (const id of missing) if (await isInStream({ type: target, id }, dependencies)) missing.delete(id);
    }
    sets.forEach((values, index) => {
      for (const id of idsIn(values[key]))
        if (missing.has(id)) problems[index]?.push({ field: key, message: `related entry not found: ${id}` });
    });
  }
  return problems;
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
