import type { ContentType } from '../../domain/content/content-type.ts';
import { withCurrentFields } from '../../domain/content/current-fields.ts';
import { type AttributedEntryEvent, type FieldValues, parseEntryEvent } from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { type EntryCommandBase, entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { Claims } from '../ports/claims.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { withClaims } from '../with-claims.ts';
import { type EntryAt, NO_ENTRY, foldEntry } from './fold-entry.ts';
import { type RelatedDependencies, findMissingTargets } from './related-entries.ts';
import { NO_UNIQUE_VALUES, claimChanges, claimUniqueValues, heldClaims } from './unique-values.ts';

export type EntryDependencies = RelatedDependencies & { readonly claims: Claims };

/** The entry after a command. */
export type EntryOutcome = {
  readonly entry: EntryState;
  /** Position of the last event; undefined when the command changed nothing. */
  readonly position: GlobalPosition | undefined;
  /** An earlier attempt of the same request wrote the entry; see `CommandOutcome`. */
  readonly isEarlier?: true | undefined;
};

/** A pure decision on one entry; usually `(state, base) => entryDecider.decide(state, { ...base, kind, … })`. */
export type EntryDecision = (state: EntryState | undefined, base: EntryCommandBase) => readonly AttributedEntryEvent[];

export type EntryCommandInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly decide: EntryDecision;
  /** The id is new, so neither the row nor the stream is read. */
  readonly isNew?: boolean;
  /** Writes to other streams in the same append; see `handleCommand`. */
  readonly alongside?: ((events: readonly NewEvent[]) => Promise<readonly StreamWrite[]>) | undefined;
};

/**
 * Decides on one entry and appends. Claims unique values and checks the targets of relations before the append. The
 * state comes from the read model's row, and only the end of the stream is read when the row does not suffice. So the
 * cost does not depend on the length of the history.
 * @throws refusals of `decide`; `unique_value_held`; `validation_failed` for a missing target; refusals of the event
 *   store
 */
export async function runEntryCommand(
  { type, id, decide, isNew = false, alongside }: EntryCommandInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const { eventStore } = dependencies;
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const base = {
    entryId: id,
    typeId: type.id,
    typeRevision: type.revision,
    definition: type.definition,
    actor: context.actor,
  };
  // The metadata of the events must carry the time that the decision chose.
  let moment = context.now();
  const decideNow = (state: EntryState | undefined): readonly AttributedEntryEvent[] => {
    const events = decide(state, { ...base, at: context.now().toISOString() });
    moment = new Date(events[0]?.at ?? moment);
    return events;
  };
  return withClaims(
    {
      command: context.repeatable?.attempt ?? context.newId(),
      async work(session) {
        const { state, position, isEarlier } = await handleCommand(
          {
            stream,
            decider: entryDecider,
            parse: (event) => withCurrentFields(type, parseEntryEvent(event)),
            decide: decideNow,
            snapshot: isNew ? NO_ENTRY : loadSnapshot,
            alongside,
            beforeAppend: async (events, before) => {
              await refuseMissingTargets(events);
              const held = before?.deleted === false ? before : NO_UNIQUE_VALUES;
              await claimUniqueValues({ owner: stream, ...claimChanges({ type, events, held }) }, session);
            },
          },
          { ...context, now: () => moment },
          { eventStore },
        );
        if (!state) throw refusal('entry_not_found');
        return { entry: state, position, isEarlier };
      },
      heldAfter({ entry, position, isEarlier }) {
        // Later commands may have given up what an earlier attempt claimed.
        if (position === undefined || isEarlier) return undefined;
        return entry.deleted ? [] : heldClaims(type, entry);
      },
    },
    dependencies,
  );

  /** The row may be stale. Before a refusal or a decision without events, the newer events of the stream are read. */
  async function loadSnapshot(): Promise<EntryAt | undefined> {
    const row = await dependencies.rows.load(type, id);
    if (!row) return undefined;
    const snapshot = { state: row, revision: row.version - 1 };
    return appendsTo(row) ? snapshot : foldEntry({ stream, type, from: snapshot }, { eventStore });
  }

  function appendsTo(state: EntryState): boolean {
    try {
      return decideNow(state).length > 0;
    } catch {
      return false;
    }
  }

  async function refuseMissingTargets(events: readonly AttributedEntryEvent[]): Promise<void> {
    const sets = events.flatMap(writtenFields);
    if (sets.length === 0) return;
    const fields = (await findMissingTargets({ type, sets }, dependencies)).flat();
    const first = fields[0];
    if (first) throw refusal('validation_failed', { message: first.message, fields });
  }
}

function writtenFields(event: AttributedEntryEvent): readonly FieldValues[] {
  if (event.type === 'EntryUndeleted') return [event.data.whole.fields];
  return event.type === 'EntryCreated' || event.type === 'EntryFieldsChanged' ? [event.data.fields] : [];
}
