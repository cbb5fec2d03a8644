import { byStream } from '../../domain/by-stream.ts';
import { chunks } from '../../domain/chunks.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import type { ChangeOf } from '../content/entry-history.ts';
import type { Lease } from '../ports/leases.ts';
import type { Logger } from '../ports/logger.ts';
import { type FencedPublisher, type Message, type MessageBus, deadLetterTopic } from '../ports/message-bus.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Tracing } from '../ports/tracing.ts';
import { encodeAuditSignature } from './audit-signature-message.ts';
import { type PublishedChange, encodeContentChange } from './content-change-message.ts';
import { encodeEvent } from './event-message.ts';
import { type StubReason, stubMessages } from './stub-message.ts';
import { topics } from './topics.ts';
import { traceBatch } from './trace-batch.ts';

export type RelayDependencies = {
  readonly bus: Pick<MessageBus, 'openPublisher'>;
  /** Prefix of the topic names, setting `KAFKA_TOPIC_PREFIX`. */
  readonly prefix: string;
  /** Returns the entry before and after one of its events. The relay calls it in order for the events of an entry. */
  readonly changeOf: ChangeOf<PublishedChange>;
  /**
   * Size of the messages of one publish, in characters of JSON. The relay holds at most about twice as much, and up to
   * 8 messages. Default 4 million.
   */
  readonly maxCharacters?: number;
  readonly logger?: Pick<Logger, 'warn'>;
  readonly metrics?: Pick<Metrics, 'stubPublished'>;
  readonly tracing?: Tracing | undefined;
};

export type RelayContext = {
  readonly signal: AbortSignal;
  /** The lease under which the events were read. */
  readonly lease: Pick<Lease, 'epoch' | 'isHeld'>;
};

/** A message of an event. `messages`: it, or its stub and the copy of the stub. */
type Outgoing = {
  readonly event: RecordedEvent;
  readonly message: Message;
  readonly messages: readonly Message[];
  readonly stub?: StubReason;
};

/** Maximum number of entries whose streams are read at the same time. */
const PARALLEL_ENTRIES = 8;
/** Number of events whose entries are read together. */
const SLICE = 100;

/**
 * Creates the handler of the leased follower `relay`. It publishes the first events of a batch, as many as fit one
 * publish, and returns their number when the broker has accepted all their messages, in order; then the follower moves
 * its checkpoint. After a crash before that, these events are published again with the same `ce_id`, so each message is
 * delivered at least once. Sealed values are published sealed.
 *
 * Each lease has a publisher of its own, which fences that of the former holder. A message that the topic refuses goes
 * out as a stub, and the others go on.
 */
export function createRelay(
  dependencies: RelayDependencies,
): (events: readonly RecordedEvent[], context: RelayContext) => Promise<number> {
  const { bus, prefix, maxCharacters = 4_000_000, logger, metrics, tracing } = dependencies;
  const publishedTopics = topics(prefix).flatMap(({ topic }) => [topic, deadLetterTopic(topic)]);
  let opened: { readonly epoch: number; readonly publisher: FencedPublisher } | undefined;

  return async function relayEvents(events, context) {
    // Aborted: the lease is lost, and another process publishes these events.
    context.signal.throwIfAborted();
    const encoded: (readonly Outgoing[])[] = [];
    let characters = 0;
    for (const slice of chunks(events, SLICE)) {
      const first = await encodeFirst(slice, { maxCharacters }, dependencies);
      encoded.push(...first);
      for (const ofEvent of first) characters += sizeOf(ofEvent);
      if (first.length < slice.length || characters >= maxCharacters) break;
    }
    await traceBatch(
      {
        name: 'publish',
        kind: 'producer',
        events: events.slice(0, encoded.length),
        work: () => publish(encoded.flat(), context),
      },
      { tracing },
    );
    return encoded.length;
  };

  /** Publishes all, in order. When the broker refuses one of them permanently, the list is halved until it is alone. */
  async function publish(outgoing: readonly Outgoing[], context: RelayContext): Promise<void> {
    if (outgoing.length === 0) return;
    const publisher = await publisherOf(context);
    const accepted = outgoing.map((one) =>
      one.messages.every((message) => publisher.accepts(message)) ? one : stubOf(one, 'too_large'),
    );
    try {
      await publisher.publish(accepted.flatMap(({ messages }) => messages));
    } catch (error) {
      await closePublisher();
      if (!hasCode(error, 'too_large') && !hasCode(error, 'message_refused')) throw error;
      context.signal.throwIfAborted();
      const [only] = accepted;
      if (!only || accepted.length > 1) {
        const half = Math.ceil(accepted.length / 2);
        await publish(accepted.slice(0, half), context);
        await publish(accepted.slice(half), context);
        return;
      }
      const stub = stubOf(only, hasCode(error, 'too_large') ? 'too_large' : 'refused');
      // The topic refuses the stub as well: the topic is at fault, not the message.
      if (stub === only) throw refusal('unavailable', { message: `the topic ${only.message.topic} refuses messages` });
      await publish([stub], context);
      return;
    }
    for (const one of accepted) if (one.stub) report(one, one.stub);
  }

  function stubOf(one: Outgoing, reason: StubReason): Outgoing {
    const messages = one.stub ? undefined : stubMessages({ ...one, reason }, { prefix });
    return messages ? { ...one, messages, stub: reason } : one;
  }

  function report({ event, message }: Outgoing, reason: StubReason): void {
    logger?.warn('a message was published without its data', {
      topic: message.topic,
      event_id: event.id,
      position: event.position,
      bytes: Buffer.byteLength(message.value ?? ''),
      reason,
    });
    metrics?.stubPublished?.(message.topic, reason);
  }

  /** The publisher of this lease. */
  async function publisherOf({ lease }: RelayContext): Promise<FencedPublisher> {
    if (opened?.epoch === lease.epoch) return opened.publisher;
    await closePublisher();
    const publisher = await bus.openPublisher({ name: `${prefix}.relay`, topics: publishedTopics });
    // This process may have been suspended since it took the lease, and have fenced a later holder just now. That one
    // fences this process in turn, but must not find messages of this process after its own.
    let isHeld = false;
    try {
      isHeld = await lease.isHeld();
    } finally {
      if (!isHeld) await publisher.close();
    }
    if (!isHeld) throw refusal('lease_lost');
    opened = { epoch: lease.epoch, publisher };
    return publisher;
  }

  async function closePublisher(): Promise<void> {
    const closing = opened?.publisher;
    opened = undefined;
    // The error of the publish counts, not that of the end of its connection.
    await closing?.close().catch(() => undefined);
  }
}

/**
 * Encodes the first events. Reads the changes of different entries in parallel, and those of one entry in order. Starts
 * no more events when the messages have the maximum size; the first event is always encoded.
 */
async function encodeFirst(
  events: readonly RecordedEvent[],
  { maxCharacters }: { readonly maxCharacters: number },
  { changeOf, prefix }: Pick<RelayDependencies, 'changeOf' | 'prefix'>,
): Promise<readonly (readonly Outgoing[])[]> {
  const encoded = new Map<RecordedEvent, readonly Outgoing[]>();
  let characters = 0;
  await inParallel(byStream(events), PARALLEL_ENTRIES, async (ofStream) => {
    for (const event of ofStream) {
      if (characters >= maxCharacters) return;
      const change = categoryOf(event.stream) === 'entry' ? await changeOf(event) : undefined;
      const messages = [
        encodeEvent(event, prefix),
        ...(change ? encodeContentChange({ event, change, prefix }) : []),
        ...encodeAuditSignature(event, prefix),
      ].filter((message) => message !== undefined);
      const outgoing = messages.map((message) => ({ event, message, messages: [message] }));
      encoded.set(event, outgoing);
      characters += sizeOf(outgoing);
    }
  });
  const first: (readonly Outgoing[])[] = [];
  for (const event of events) {
    const outgoing = encoded.get(event);
    if (!outgoing) break;
    first.push(outgoing);
  }
  return first;
}

function sizeOf(outgoing: readonly Outgoing[]): number {
  return outgoing.reduce((sum, { message }) => sum + (message.value?.length ?? 0), 0);
}
