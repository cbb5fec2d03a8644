import { createHash } from 'node:crypto';
import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';

/** A stream that differs between two logs. */
export type Difference = {
  readonly stream: string;
  /**
   * `missing`: only the first log has the stream; `extra`: only the second has it. Otherwise the first difference of
   * the number of events, their ids and revisions, or their content (type, data, metadata).
   */
  readonly what: 'missing' | 'extra' | 'count' | 'ids' | 'content';
  /** Number of events in the first and in the second log. */
  readonly from: number;
  readonly to: number;
};

export type Comparison = {
  readonly equal: boolean;
  /** Number of events and streams in the first log. */
  readonly events: number;
  readonly streams: number;
  /** Whether both logs hold all events in the same order. */
  readonly sameOrder: boolean;
  /** The first 100 differences. */
  readonly differences: readonly Difference[];
  /**
   * Position of the last compared event in each log. A follower at the first position can continue in the other log at
   * the second one.
   */
  readonly heads: { readonly from: GlobalPosition; readonly to: GlobalPosition };
};

/** Digest of a stream. It is small, because a log may have very many streams. */
type StreamDigest = { count: number; ids: string; content: string };
type LogDigest = {
  readonly streams: ReadonlyMap<string, StreamDigest>;
  readonly order: string;
  readonly events: number;
  readonly head: GlobalPosition;
};

const MAX_DIFFERENCES = 100;

/**
 * Reads two logs and compares them stream by stream: number of events, revisions, ids, types, and the JSON text of data
 * and metadata. Positions and `recorded_at` differ between stores and are not compared. Events of the first log after
 * `until` are ignored.
 */
export async function compareLogs({
  from,
  to,
  until,
  onEvent,
  signal,
}: {
  readonly from: Pick<EventStore, 'readAll'>;
  readonly to: Pick<EventStore, 'readAll'>;
  readonly until: GlobalPosition;
  readonly onEvent?: () => void;
  readonly signal?: AbortSignal;
}): Promise<Comparison> {
  const first = await digestLog({ until, onEvent, signal }, from);
  const second = await digestLog({ until: undefined, onEvent, signal }, to);
  const differences: Difference[] = [];
  for (const [stream, digest] of first.streams) {
    const other = second.streams.get(stream);
    const what = other ? differenceOf(digest, other) : 'missing';
    if (what) differences.push({ stream, what, from: digest.count, to: other?.count ?? 0 });
  }
  for (const [stream, { count }] of second.streams) {
    if (!first.streams.has(stream)) differences.push({ stream, what: 'extra', from: 0, to: count });
  }
  const sameOrder = first.order === second.order;
  return {
    equal: differences.length === 0,
    events: first.events,
    streams: first.streams.size,
    sameOrder,
    differences: differences.slice(0, MAX_DIFFERENCES),
    heads: { from: first.head, to: second.head },
  };
}

function differenceOf(one: StreamDigest, other: StreamDigest): Difference['what'] | undefined {
  if (one.count !== other.count) return 'count';
  if (one.ids !== other.ids) return 'ids';
  return one.content === other.content ? undefined : 'content';
}

async function digestLog(
  {
    until,
    onEvent,
    signal,
  }: {
    readonly until: GlobalPosition | undefined;
    readonly onEvent: (() => void) | undefined;
    readonly signal: AbortSignal | undefined;
  },
  store: Pick<EventStore, 'readAll'>,
): Promise<LogDigest> {
  const streams = new Map<string, StreamDigest>();
  const order = createHash('sha256');
  let events = 0;
  let head = ORIGIN;
  for await (const event of store.readAll(signal ? { signal } : {})) {
    if (until !== undefined && event.position > until) break;
    order.update(event.id);
    events += 1;
    head = event.position;
    const digest = streams.get(event.stream);
    if (digest) add(digest, event);
    else streams.set(event.stream, add({ count: 0, ids: '', content: '' }, event));
    onEvent?.();
  }
  return { streams, order: order.digest('base64'), events, head };
}

function add(digest: StreamDigest, { id, revision, type, data, metadata }: RecordedEvent): StreamDigest {
  digest.count += 1;
  digest.ids = chained(digest.ids, [revision, id]);
  digest.content = chained(digest.content, [type, data, metadata]);
  return digest;
}

function chained(before: string, values: readonly unknown[]): string {
  return createHash('sha256').update(before).update(JSON.stringify(values)).digest('base64');
}
