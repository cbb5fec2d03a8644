import { type CommandContext, timestamp } from '../domain/context.ts';
import type { Decider, Fold } from '../domain/decider.ts';
import { hasCode, isAppError, refusal } from '../domain/errors.ts';
import type { DomainEvent, GlobalPosition, NewEvent, RecordedEvent, StreamRevision } from '../domain/event.ts';
import { type StateAt, foldStream } from './fold-stream.ts';
import type { AppendResult, EventStore, GuardFailure, Guards, StreamWrite } from './ports/event-store.ts';
import { type LastWrite, runExclusivelyOnStream } from './run-exclusively-on-stream.ts';

export type { StateAt } from './fold-stream.ts';

export type CommandOutcome<State> = StateAt<State> & {
  /** Position of the last event appended; undefined when the command changed nothing. */
  readonly position: GlobalPosition | undefined;
  readonly events: readonly NewEvent[];
  /** An earlier attempt of the same request had appended the events. */
  readonly isEarlier?: true;
};

export type HandleCommandInput<State, Event extends DomainEvent> = {
  readonly stream: string;
  readonly decider: Fold<State, Event>;
  /** Upcasts and narrows a stored event. @throws for an event of another aggregate */
  readonly parse: (event: RecordedEvent) => Event;
  /**
   * Pure decision on the current state; usually `(state) => xDecider.decide(state, command)`. It may throw a refusal.
   * No events: the command changes nothing. Called again after a conflict.
   */
  readonly decide: (state: State, revision: StreamRevision) => readonly Event[];
  /**
   * A recent state, such as the row of the read model. With it the stream is read only after a conflict. A function is
   * called when the earlier commands on the stream have ended.
   */
  readonly snapshot?: StateAt<State> | (() => Promise<StateAt<State> | undefined>) | undefined;
  /**
   * Runs between each decision and its append, for example to claim unique values. @returns the guards of the append,
   * for a store that has them
   */
  readonly beforeAppend?: ((events: readonly Event[], state: State) => Promise<Guards | undefined>) | undefined;
  /** Runs when a guard failed. It may throw a refusal; else the command decides again. */
  readonly onGuardFailed?: ((failure: GuardFailure) => Promise<void>) | undefined;
  /**
   * Returns writes to other streams that are appended before the events, all or none. Called for each decision.
   * Requires a store with `appendMany`.
   */
  readonly alongside?: ((events: readonly NewEvent[]) => Promise<readonly StreamWrite[]>) | undefined;
};

/**
 * Makes the command from the current state; runs again after a conflict. It may throw a refusal. Undefined changes
 * nothing.
 */
export type CommandFor<State, Command> = (state: State, revision: StreamRevision) => Command | undefined;

type HandleCommandDependencies = { readonly eventStore: EventStore };

/** Maximum number of decisions of a command under contention; then it throws `store_unavailable`. */
const MAX_DECISIONS = 100;
/** Maximum number of sends of one append while its outcome is unknown. */
const MAX_SENDS = 5;

/**
 * Loads the state, decides, and appends. Commands of one process on the same stream run one after another. After a
 * conflict the command decides again on the new state. After an unknown outcome it sends the same events with the same
 * ids again. In a repeatable request it first looks for the events of an earlier attempt.
 * @throws refusals of `decide`; `store_unavailable` when nothing was written; `outcome_unknown` when the events may
 * have been written
 */
export function handleCommand<State, Event extends DomainEvent>(
  input: HandleCommandInput<State, Event>,
  context: CommandContext,
  dependencies: HandleCommandDependencies,
): Promise<CommandOutcome<State>> {
  const work = (last: LastWrite) => runCommand({ ...input, last }, context, dependencies);
  return runExclusivelyOnStream({ stream: input.stream, work }, dependencies);
}

async function runCommand<State, Event extends DomainEvent>(
  input: HandleCommandInput<State, Event> & { readonly last: LastWrite },
  context: CommandContext,
  { eventStore }: HandleCommandDependencies,
): Promise<CommandOutcome<State>> {
  const { stream, decider, parse, decide, snapshot, last } = input;
  const fold = (from?: StateAt<State>): Promise<StateAt<State>> =>
    foldStream({ stream, decider, parse, from }, { eventStore });

  if (context.repeatable?.isRepeat) {
    const earlier = await findEarlier(input, context, { eventStore });
    if (earlier) return earlier;
  }
  const start = typeof snapshot === 'function' ? await snapshot() : snapshot;
  let current = start ?? (await fold());
  // An earlier command of this process wrote later revisions, so an append based on the snapshot would conflict.
  if (current.revision < last.revision) current = await fold(current);
  for (let round = 1; ; round += 1) {
    const decided = decide(current.state, current.revision);
    if (decided.length === 0) return { ...current, position: undefined, events: [] };
    const guards = await input.beforeAppend?.(decided, current.state);
    const events = decided.map((event) => toNewEvent(event, context));
    const expected = current.revision < 0 ? 'no_stream' : current.revision;
    const alongside = (await input.alongside?.(events)) ?? [];
    try {
      const { revision, position } = await appendOnce(() =>
        appendWith(alongside, { stream, events, expected, guards }, eventStore),
      );
      last.revision = Math.max(last.revision, revision);
      return { state: decided.reduce(decider.evolve, current.state), revision, position, events };
    } catch (error) {
      const failure = guardFailureOf(error);
      if (failure) await input.onGuardFailed?.(failure);
      else if (!hasCode(error, 'conflict')) throw error;
      const earlier = context.repeatable && (await findEarlier(input, context, { eventStore }));
      if (earlier) return earlier;
      if (round === MAX_DECISIONS) throw refusal('store_unavailable', { cause: error });
      current = await fold(current);
    }
  }
}

/**
 * Finds the events that an earlier attempt of the same request appended to the stream.
 * @returns the outcome as the earlier attempt would have returned it; undefined when it appended nothing
 */
async function findEarlier<State, Event extends DomainEvent>(
  { stream, decider, parse }: Pick<HandleCommandInput<State, Event>, 'stream' | 'decider' | 'parse'>,
  { causationId, repeatable }: CommandContext,
  { eventStore }: HandleCommandDependencies,
): Promise<CommandOutcome<State> | undefined> {
  let state = decider.initialState();
  let outcome: CommandOutcome<State> | undefined;
  for await (const event of eventStore.readStream(stream)) {
    const isOwn = event.metadata.$causationId === causationId;
    if (outcome && !isOwn) break;
    state = decider.evolve(state, parse(event));
    const { revision, position } = event;
    if (isOwn) outcome = { state, revision, position, events: [...(outcome?.events ?? []), event], isEarlier: true };
  }
  if (outcome) repeatable?.foundEarlier();
  return outcome;
}

async function appendWith(
  alongside: readonly StreamWrite[],
  write: StreamWrite,
  eventStore: EventStore,
): Promise<AppendResult> {
  const { stream, events, expected, guards } = write;
  if (alongside.length === 0) return eventStore.append(stream, events, { expected, guards });
  const results = await eventStore.appendMany?.([...alongside, write]);
  const last = results?.at(-1);
  if (!last) throw new TypeError('this event store cannot append to several streams at once');
  return last;
}

/** The guard that failed, if the error is that refusal. */
export function guardFailureOf(error: unknown): GuardFailure | undefined {
  return isAppError(error) && error.code === 'guard_failed' ? (error.cause as GuardFailure) : undefined;
}

/** The `decide` of `handleCommand` for a command that is made from the current state. */
export function decideBy<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  commandFor: CommandFor<State, Command>,
): (state: State, revision: StreamRevision) => readonly Event[] {
  return (state, revision) => {
    const command = commandFor(state, revision);
    return command === undefined ? [] : decider.decide(state, command);
  };
}

/** Makes an event to append: adds an id and the metadata (tenant, actor, correlation, time, schema version 1). */
export function toNewEvent(event: DomainEvent, context: CommandContext): NewEvent {
  return {
    id: context.newId(),
    type: event.type,
    data: event.data,
    metadata: {
      tenant: context.tenant,
      actor: context.actor,
      $correlationId: context.correlationId,
      $causationId: context.causationId,
      occurred_at: timestamp(context),
      schema_version: 1,
      ...(context.traceparent === undefined ? {} : { $traceparent: context.traceparent }),
    },
  };
}

/**
 * Sends an append until its outcome is known, at most five times. Each send has the same events with the same ids.
 * @throws `store_unavailable` when nothing was written; `outcome_unknown` when one of the sends may have been written;
 * other refusals of the store
 */
export async function appendOnce<Result>(send: () => Promise<Result>): Promise<Result> {
  let unknown: unknown;
  for (let sends = 1; ; sends += 1) {
    try {
      return await send();
    } catch (error) {
      if (hasCode(error, 'outcome_unknown')) unknown = error;
      else if (!hasCode(error, 'store_unavailable')) throw error;
      if (sends === MAX_SENDS) throw unknown ?? error;
    }
  }
}
