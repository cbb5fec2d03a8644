import type { CommandContext } from '../domain/context.ts';
import { timestamp } from '../domain/context.ts';
import type { Decider } from '../domain/decider.ts';
import { hasCode, refusal } from '../domain/errors.ts';
import type { DomainEvent, GlobalPosition, NewEvent, RecordedEvent, StreamRevision } from '../domain/event.ts';
import type { Turn } from './in-turn.ts';
import { inTurn } from './in-turn.ts';
import type { AppendResult, EventStore, StreamWrite } from './ports/event-store.ts';

/** A state known to be that of the stream at `revision`; -1 where the stream is empty. */
export type StateAt<State> = { readonly state: State; readonly revision: StreamRevision };

export type CommandOutcome<State> = StateAt<State> & {
  /** Position of the last event appended; undefined when the decision was that nothing happens. */
  readonly position: GlobalPosition | undefined;
  readonly events: readonly NewEvent[];
};

export type HandleCommandOptions<State, Event extends DomainEvent> = {
  readonly eventStore: EventStore;
  readonly stream: string;
  readonly decider: Decider<State, Event>;
  /** Turns stored events into the decider's (upcasts and narrows). Unknown types are fatal here. */
  readonly parse: (event: RecordedEvent) => Event;
  readonly context: CommandContext;
  /** Pure decision on fresh state; may throw a refusal. Empty: nothing happens. Called again after a conflict. */
  readonly decide: (state: State, revision: StreamRevision) => readonly Event[];
  /**
   * A recent state, such as the read model's row; events after it are read only when the append conflicts. As a function it is asked when
   * the command's turn has come.
   */
  readonly snapshot?: StateAt<State> | (() => Promise<StateAt<State> | undefined>) | undefined;
  /** Runs between decision and append, and again for every new decision (claims of unique values). */
  readonly beforeAppend?: ((events: readonly Event[], state: State) => Promise<void>) | undefined;
  /** Writes to other streams that go with the events, in front of them, all or none; asked again for every new decision. Only where the store has `appendMany`. */
  readonly alongside?: ((events: readonly NewEvent[]) => Promise<readonly StreamWrite[]>) | undefined;
};

/** Decisions on one stream before the command gives up under contention and answers `store_unavailable`. */
const MAX_DECISIONS = 100;
const MAX_SENDS = 5;

/**
 * Load, decide, append (spec 5, rule 3). Commands of one process on one stream take turns. A conflict is decided again on fresh state; an unknown outcome is sent again with the same ids.
 * @throws refusals of `decide`; `store_unavailable` when the store stays away; `outcome_unknown` when it never said what became of the append.
 */
export function handleCommand<State, Event extends DomainEvent>(options: HandleCommandOptions<State, Event>): Promise<CommandOutcome<State>> {
  return inTurn(options, (turn) => runCommand(options, turn));
}

async function runCommand<State, Event extends DomainEvent>(options: HandleCommandOptions<State, Event>, turn: Turn): Promise<CommandOutcome<State>> {
  const { eventStore, stream, decider, parse, context, decide, snapshot } = options;
  const known = typeof snapshot === 'function' ? await snapshot() : snapshot;
  let current = known ?? (await fold({ state: decider.initialState(), revision: -1 }));
  // An append on it would only conflict.
  if (current.revision < turn.revision) current = await fold(current);
  for (let round = 1; ; round += 1) {
    const decided = decide(current.state, current.revision);
    if (decided.length === 0) return { ...current, position: undefined, events: [] };
    await options.beforeAppend?.(decided, current.state);
    const events = decided.map((event) => toNewEvent(event, context));
    const expected = current.revision < 0 ? 'no_stream' : current.revision;
    const alongside = (await options.alongside?.(events)) ?? [];
    try {
      const { revision, position } = await appendOnce(() => appendWith(eventStore, alongside, { stream, events, expected }));
      turn.revision = Math.max(turn.revision, revision);
      return { state: decided.reduce(decider.evolve, current.state), revision, position, events };
    } catch (error) {
      if (!hasCode(error, 'conflict')) throw error;
      if (round === MAX_DECISIONS) throw refusal('store_unavailable', { cause: error });
      current = await fold(current);
    }
  }

  async function fold(from: StateAt<State>): Promise<StateAt<State>> {
    let { state, revision } = from;
    for await (const event of eventStore.readStream(stream, { from: revision + 1 })) {
      state = decider.evolve(state, parse(event));
      revision = event.revision;
    }
    return { state, revision };
  }
}

async function appendWith(eventStore: EventStore, alongside: readonly StreamWrite[], { stream, events, expected }: StreamWrite): Promise<AppendResult> {
  if (alongside.length === 0) return eventStore.append(stream, events, { expected });
  const results = await eventStore.appendMany?.([...alongside, { stream, events, expected }]);
  const last = results?.at(-1);
  if (!last) throw new TypeError('this store appends to one stream at a time');
  return last;
}

/** Wraps a decided event: id, actor, correlation, time (spec 5, rule 2). */
export function toNewEvent(event: DomainEvent, context: CommandContext, schemaVersion = 1): NewEvent {
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
      schema_version: schemaVersion,
      ...(context.traceparent === undefined ? {} : { $traceparent: context.traceparent }),
    },
  };
}

/**
 * Sends an append until its outcome is known, a few times: the same events under the same ids.
 * @throws `store_unavailable` when nothing was written for sure; `outcome_unknown` when any of the sends may have been; what else the store refuses
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
