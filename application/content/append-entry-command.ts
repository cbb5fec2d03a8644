import type { ContentType } from '../../domain/content/content-type.ts';
import { eventWithCurrentFields } from '../../domain/content/current-fields.ts';
import {
  type AttributedEntryEvent,
  type Compensation,
  parseEntryEvent,
  writtenFields,
} from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { type EntryCommandBase, entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { Claims } from '../ports/claims.ts';
import type { GuardFailure, Guards, StreamGuard, StreamWrite } from '../ports/event-store.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import { withClaims } from '../with-claims.ts';
import { entryCommandBase } from './entry-command-base.ts';
import { type EntryAt, NO_ENTRY, foldEntry } from './fold-entry.ts';
import { type RelatedDependencies, findMissingTargets, targetGuards, withoutType } from './related-entries.ts';
import {
  NO_UNIQUE_VALUES,
  type UniqueClaim,
  claimChanges,
  heldClaims,
  refuseHeldValues,
  takeUniqueValues,
} from './unique-values.ts';

export type EntryDependencies = RelatedDependencies & {
  readonly claims: Claims;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  /** Called after a write was compensated, or could not be (`isTakenBack` is false); see `Compensation`. */
  readonly compensated: (compensation: {
    readonly stream: string;
    readonly reason: string;
    readonly isTakenBack: boolean;
  }) => void;
};

/** The entry after a command. */
export type EntryOutcome = {
  readonly entry: EntryState;
  /** Position of the last event; undefined when the command changed nothing. */
  readonly position: GlobalPosition | undefined;
  /** An earlier attempt of the same request wrote the entry; see `CommandOutcome`. */
  readonly isEarlier?: true | undefined;
};

/** What the append depended on, for a store that does not check it. */
export type EntryConditions = {
  readonly before: EntryState | undefined;
  readonly events: readonly AttributedEntryEvent[];
  readonly claimed: readonly UniqueClaim[];
  readonly guards: Guards;
};

/** The outcome of an append. `conditions`: of the decision that was appended. */
export type AppendedEntry = EntryOutcome & { readonly conditions: EntryConditions | undefined };

/** A pure decision on one entry; usually `(state, base) => entryDecider.decide(state, { ...base, kind, … })`. */
export type EntryDecision = (state: EntryState | undefined, base: EntryCommandBase) => readonly AttributedEntryEvent[];

export type EntryCommandInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly decide: EntryDecision;
  /** The id is new, so neither the row nor the stream is read. */
  readonly isNew?: boolean;
  /** Set for a command that takes back an earlier write. */
  readonly compensates?: Compensation | undefined;
  /** Further guards of the append; called for each decision, before `alongside`. */
  readonly guards?: (() => Promise<Guards>) | undefined;
  /** Writes to other streams in the same append; see `handleCommand`. */
  readonly alongside?: ((events: readonly NewEvent[]) => Promise<readonly StreamWrite[]>) | undefined;
};

/**
 * Decides on one entry and appends. Where the store has guards, the append takes the unique values and requires that
 * the targets of relations exist; else both are checked before it. The state comes from the read model's row; only the
 * end of the stream is read when the row does not suffice. So the cost does not depend on the length of the history.
 * @throws refusals of `decide`; `unique_value_held`; `validation_failed` for a missing target; refusals of the event
 *   store
 */
export async function appendEntryCommand(
  { type, id, decide, isNew = false, compensates, guards, alongside }: EntryCommandInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<AppendedEntry> {
  const { eventStore } = dependencies;
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  // The metadata of the events must carry the time that the decision chose.
  let moment = context.now();
  const decideNow = (state: EntryState | undefined): readonly AttributedEntryEvent[] => {
    const events = decide(state, { ...entryCommandBase({ type, id }, context), ...(compensates && { compensates }) });
    moment = new Date(events[0]?.at ?? moment);
    return events;
  };
  let conditions: EntryConditions | undefined;
  // With guards, the targets are read only after the append was refused, to name the missing ones.
  let wasRefused = false;
  const readsTargets = (): boolean => wasRefused || !eventStore.capabilities.guards;
  return withClaims(
    {
      command: context.repeatable?.attempt ?? context.newId(),
      async work(session) {
        const { state, position, isEarlier } = await handleCommand(
          {
            stream,
            decider: entryDecider,
            parse: (event) => eventWithCurrentFields(type, parseEntryEvent(event)),
            decide: decideNow,
            snapshot: isNew ? NO_ENTRY : loadSnapshot,
            alongside,
            beforeAppend: async (events, before) => {
              const streams = await checkTargets(events);
              const held = before?.deleted === false ? before : NO_UNIQUE_VALUES;
              const changes = claimChanges({ type, events, held });
              await takeUniqueValues({ owner: stream, ...changes }, session);
              const all = { ...(await guards?.()), ...session.guardsOf(stream), streams };
              conditions = { before, events, claimed: changes.claimed, guards: all };
              return all;
            },
            onGuardFailed: async (failure) => {
              if (failure.guard === 'taken')
                refuseHeldValues(conditions?.claimed ?? [], await session.findHeldValues(stream));
              else await prepareNextDecision(failure);
            },
          },
          { ...context, now: () => moment },
          { eventStore },
        );
        if (!state) throw refusal('entry_not_found');
        return { entry: state, position, isEarlier, conditions };
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
    const row = await dependencies.entryRows.load(type, id);
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

  /** @throws `validation_failed` for a target of a relation that does not exist */
  async function checkTargets(events: readonly AttributedEntryEvent[]): Promise<readonly StreamGuard[]> {
    const sets = events.flatMap(writtenFields);
    if (sets.length === 0) return [];
    const streams = await targetGuards({ type, sets }, dependencies);
    if (streams && (streams.length === 0 || !readsTargets())) return streams;
    const fields = (await findMissingTargets({ type, sets, fromStreams: wasRefused }, dependencies)).flat();
    const first = fields[0];
    if (first) throw refusal('validation_failed', { message: first.message, fields });
    return (streams ?? []).map(withoutType);
  }

  async function prepareNextDecision(failure: Exclude<GuardFailure, { guard: 'taken' }>): Promise<void> {
    if (failure.guard === 'stream') wasRefused = true;
    else await waitForReadModel({ name: 'content', position: failure.position }, dependencies);
  }
}
