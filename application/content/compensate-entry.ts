import type { ContentType } from '../../domain/content/content-type.ts';
import type { AttributedEntryEvent } from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { type EntryCommandBase, entryDecider } from '../../domain/content/entry.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { isAppError } from '../../domain/errors.ts';
import type { StreamRevision } from '../../domain/event.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import { type EntryConditions, type EntryDependencies, appendEntryCommand } from './append-entry-command.ts';

export type CompensateEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  /** Revision of the last event of the write. */
  readonly revision: StreamRevision;
  readonly conditions: Pick<EntryConditions, 'before' | 'events'>;
  /** Code of the refusal that the caller gets. */
  readonly reason: string;
};

/**
 * Takes back a write of an entry: a created or undeleted entry is deleted, a deleted one undeleted, and changed fields
 * get their values from before. Fields that another command has changed since stay. Reports the compensation.
 * @throws what is no refusal
 */
export async function compensateEntry(
  { type, id, revision, conditions, reason }: CompensateEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<void> {
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  let isTakenBack = true;
  try {
    await appendEntryCommand(
      {
        type,
        id,
        compensates: { revision, reason },
        decide: (state, base) => (state ? takeBack(state, base, conditions) : []),
      },
      // Not an attempt of the request: a repetition of the request must not take these events for its own.
      { ...context, causationId: context.newId(), repeatable: undefined },
      dependencies,
    );
  } catch (error) {
    if (!isAppError(error)) throw error;
    isTakenBack = false;
  }
  dependencies.compensated({ stream, reason, isTakenBack });
}

function takeBack(
  state: EntryState,
  base: EntryCommandBase,
  { before, events }: CompensateEntryInput['conditions'],
): readonly AttributedEntryEvent[] {
  const wasDeleted = !before || before.deleted;
  if (state.deleted) return wasDeleted ? [] : entryDecider.decide(state, { ...base, kind: 'undelete' });
  if (wasDeleted) return entryDecider.decide(state, { ...base, kind: 'delete' });
  const after = events.reduce(entryDecider.evolve, before);
  const written = new Set(
    events.flatMap((event) => (event.type === 'EntryFieldsChanged' ? Object.keys(event.data.fields) : [])),
  );
  const remaining = [...written].filter((key) =>
    sameJson(ownValue(state.fields, key) ?? null, ownValue(after?.fields ?? {}, key) ?? null),
  );
  return entryDecider.decide(state, {
    ...base,
    kind: 'change',
    data: Object.fromEntries(remaining.map((key) => [key, ownValue(before.fields, key) ?? null])),
    slug: state.slug === after?.slug ? before.slug : undefined,
  });
}
