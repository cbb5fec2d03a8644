import type { ContentType } from '../../domain/content/content-type.ts';
import { type EntryEvent, parseEntryEvent, writtenFields } from '../../domain/content/entry-events.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { type AppError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { ownValue } from '../../domain/own-value.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Guards, StreamGuard } from '../ports/event-store.ts';
import type { EntryConditions, EntryDependencies } from './append-entry-command.ts';
import { foldEntry } from './fold-entry.ts';
import { idsIn, targetProblems } from './related-entries.ts';
import { heldFields } from './unique-values.ts';

export type AppendedConditions = {
  readonly type: ContentType;
  readonly stream: string;
  /** Position of the last event of the append. */
  readonly position: GlobalPosition;
  readonly conditions: Pick<EntryConditions, 'claimed' | 'guards'> & { readonly events: readonly EntryEvent[] };
};

/**
 * Looks again at what an append depended on. Of two writes that exclude each other, the one that is later in the log
 * finds the other here.
 * @returns the refusal of the write; undefined when every condition held
 */
export async function findBrokenCondition(
  { type, stream, position, conditions: { claimed, guards, events } }: AppendedConditions,
  dependencies: EntryDependencies,
): Promise<AppError | undefined> {
  const fields = heldFields(claimed, await dependencies.claims.heldByOthers(stream, claimed));
  if (fields.length > 0) return refusal('unique_value_held', { fields });
  for (const guard of guards.streams ?? []) {
    if (await isDeletedAt({ guard, position }, dependencies)) {
      const target = parseStream(guard.stream)?.id;
      const missing = targetProblems({
        type,
        sets: events.flatMap(writtenFields),
        isMissing: (_key, id) => id.toLowerCase() === target,
      }).flat();
      return refusal('validation_failed', { message: missing[0]?.message ?? '', fields: missing });
    }
  }
  return guards.unmentioned && findReferrer({ type, stream, position, unmentioned: guards.unmentioned }, dependencies);
}

/** Whether the stream had no event, or ended with the excluded one, at the position. */
async function isDeletedAt(
  { guard, position }: { readonly guard: StreamGuard; readonly position: GlobalPosition },
  { eventStore }: Pick<EntryDependencies, 'eventStore'>,
): Promise<boolean> {
  for await (const event of eventStore.readStream(guard.stream, { direction: 'backwards' }))
    if (event.position < position) return event.type === guard.notEndingWith;
  return true;
}

/** Finds an entry that began to refer to the deleted one after its references were read and before it was deleted. */
async function findReferrer(
  {
    type: target,
    stream,
    position,
    unmentioned: { tenant, category, text, after },
  }: Pick<AppendedConditions, 'type' | 'stream' | 'position'> & {
    readonly unmentioned: NonNullable<Guards['unmentioned']>;
  },
  dependencies: EntryDependencies,
): Promise<AppError | undefined> {
  for await (const event of dependencies.eventStore.readAll({ after, filter: { categories: [category], tenant } })) {
    if (event.position >= position) return undefined;
    if (event.stream === stream || !JSON.stringify(event.data).toLowerCase().includes(text)) continue;
    const refused = await referenceRefusal({ event, target, id: text }, dependencies);
    if (refused) return refused;
  }
  return undefined;
}

async function referenceRefusal(
  { event, target, id }: { readonly event: RecordedEvent; readonly target: ContentType; readonly id: string },
  { eventStore, types }: Pick<EntryDependencies, 'eventStore' | 'types'>,
): Promise<AppError | undefined> {
  const type = await types.get(target.tenant, parseEntryEvent(event).data.schema);
  const { state } = type ? await foldEntry({ stream: event.stream, type }, { eventStore }) : {};
  if (!type || !state || state.deleted) return undefined;
  for (const { key, definition } of storedFields(type.definition)) {
    if (definition.relation_to !== target.name) continue;
    const ids = idsIn(ownValue(state.fields, key)).map((target) => target.toLowerCase());
    if (!ids.includes(id)) continue;
    // An optional reference is removed when the client repeats the deletion.
    if (definition.required !== true || ids.length > 1)
      return refusal('store_unavailable', { headers: { 'Retry-After': '1' } });
    return refusal('entry_referenced', { message: `entry is referenced by ${type.name}.${definition.name}` });
  }
  return undefined;
}
