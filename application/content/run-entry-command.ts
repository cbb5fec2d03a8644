import { entryDecider } from '../../domain/content/entry.ts';
import type { EntryCommand, EntryFact } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { FieldValues } from '../../domain/content/events.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { factOfToday } from '../../domain/content/todays-fields.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { ClaimRequest, Claims } from '../ports/claims.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { foldEntry, NO_ENTRY } from './fold-entry.ts';
import type { EntryAt } from './fold-entry.ts';
import { findMissingTargets } from './related-entries.ts';
import type { RelatedDependencies } from './related-entries.ts';
import { abandonClaims, claimAll, claimChanges, heldClaims, HOLDS_NOTHING, settleClaims } from './unique-values.ts';

export type EntryDependencies = RelatedDependencies & { readonly claims: Claims };

/** The entry after a command. */
export type EntryOutcome = {
  readonly entry: EntryState;
  /** Position of the last event; undefined when nothing had to happen. */
  readonly position: GlobalPosition | undefined;
};

/** A pure decision on one entry. */
export type EntryDecision = (state: EntryState | undefined, command: EntryCommand) => readonly EntryFact[];

export type EntryCommandOptions = {
  readonly type: ContentType;
  readonly id: string;
  readonly decide: EntryDecision;
  readonly isNew?: boolean;
  /** Writes to other streams that go with the events (handle-command.ts). */
  readonly alongside?: ((events: readonly NewEvent[]) => Promise<readonly StreamWrite[]>) | undefined;
};

/**
 * Decides on one entry and appends, unique values claimed and targets of relations checked. The state comes from the read model's row and only the
 * stream's tail is read where that is not enough, so the length of the history costs nothing.
 * @throws refusals of `decide`; `unique_value_held`; `validation_failed` for a missing target; those of the event store
 */
export async function runEntryCommand(
  { type, id, decide, isNew = false, alongside }: EntryCommandOptions,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const { eventStore, claims } = dependencies;
  const stream = streamName({ category: 'entry', tenant: type.tenant, id });
  const base = { entryId: id, typeId: type.id, typeRevision: type.revision, definition: type.definition, actor: context.actor };
  // Events carry the very moment that the decision saw.
  let moment = context.now();
  const decideNow = (state: EntryState | undefined): readonly EntryFact[] => {
    const facts = decide(state, { ...base, at: context.now().toISOString() });
    moment = new Date(facts[0]?.at ?? moment);
    return facts;
  };
  const command = context.newId();
  const touched: ClaimRequest[] = [];
  try {
    const outcome = await handleCommand({
      eventStore,
      stream,
      decider: entryDecider,
      parse: (event) => factOfToday(type, parseEntryEvent(event)),
      context: { ...context, now: () => moment },
      decide: decideNow,
      snapshot: isNew ? NO_ENTRY : snapshotOf,
      alongside,
      beforeAppend: async (facts, state) => {
        await refuseMissingTargets(facts);
        const changes = claimChanges(type, facts, state?.deleted === false ? state : HOLDS_NOTHING);
        touched.push(...changes.claimed, ...changes.released);
        await claimAll(claims, stream, changes, command);
      },
    });
    if (!outcome.state) throw refusal('entry_not_found');
    if (outcome.position === undefined) await abandonClaims(claims, stream, touched, { command });
    else await settleClaims(claims, stream, { touched, held: outcome.state.deleted ? [] : heldClaims(type, outcome.state) }, command);
    return { entry: outcome.state, position: outcome.position };
  } catch (error) {
    await abandonClaims(claims, stream, touched, { error, command });
    throw error;
  }

  /** The row, brought up to date where the decision on it would append nothing: a refusal or a no-op must not rest on a state of the past. */
  async function snapshotOf(): Promise<EntryAt | undefined> {
    const row = await dependencies.rows.load(type, id);
    if (!row) return undefined;
    const snapshot = { state: row, revision: row.version - 1 };
    return appends(row) ? snapshot : foldEntry(eventStore, stream, { from: snapshot, type });
  }

  function appends(state: EntryState): boolean {
    try {
      return decideNow(state).length > 0;
    } catch {
      return false;
    }
  }

  async function refuseMissingTargets(facts: readonly EntryFact[]): Promise<void> {
    const sets = facts.flatMap(writtenFields);
    if (sets.length === 0) return;
    const fields = (await findMissingTargets(type, sets, dependencies)).flat();
    const first = fields[0];
    if (first) throw refusal('validation_failed', { message: first.message, fields });
  }
}

/** Fields that an event writes. */
function writtenFields(fact: EntryFact): readonly FieldValues[] {
  if (fact.type === 'EntryUndeleted') return [fact.data.whole.fields];
  return fact.type === 'EntryCreated' || fact.type === 'EntryFieldsChanged' ? [fact.data.fields] : [];
}
