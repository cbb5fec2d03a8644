import type { RelayContext } from '../../application/platform/relay.ts';
import type { FencedPublisher, Message, MessageBus } from '../../application/ports/message-bus.ts';
import type { RecordedEvent } from '../../domain/event.ts';

/** A bus whose publishers pass their messages to `publish`. */
export function busOf(
  publish: (messages: readonly Message[]) => Promise<void>,
  accepts: FencedPublisher['accepts'] = () => true,
): Pick<MessageBus, 'openPublisher'> {
  return { openPublisher: () => Promise.resolve({ accepts, publish, close: () => Promise.resolve() }) };
}

/** The context of a relay whose lease is held. */
export function underLease({ epoch = 1, signal = new AbortController().signal } = {}): RelayContext {
  return { signal, lease: { epoch, isHeld: () => Promise.resolve(true) } };
}

/** Relays all events, step by step as the follower does. @returns the number of events of each step */
export async function relayAll(
  events: readonly RecordedEvent[],
  relay: (events: readonly RecordedEvent[], context: RelayContext) => Promise<number>,
  context: RelayContext = underLease(),
): Promise<readonly number[]> {
  const steps: number[] = [];
  for (let handled = 0; handled < events.length; handled += steps.at(-1) ?? 0)
    steps.push(await relay(events.slice(handled), context));
  return steps;
}
