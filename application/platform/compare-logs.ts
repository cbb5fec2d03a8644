import { createHash } from 'node:crypto';
import type { EventStore } from '../ports/event-store.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';

/** A stream whose copy is not what it was. */
export type Difference = {
  readonly stream: string;
  /** `missing` and `extra` streams; else the first of count, ids (in their order) and content (data, metadata, type) that differs. */
  readonly what: 'missing' | 'extra' | 'count' | 'ids' | 'content';
  readonly from: number;
  readonly to: number;
};

export type Comparison = {
  readonly equal: boolean;
  /** Events and streams of the first log. */
  readonly events: number;
  readonly streams: number;
  /** Whether the events of all streams stand in the same order too. */
  readonly sameOrder: boolean;
  /** At most `MOST_DIFFERENCES`. */
  readonly differences: readonly Difference[];
  /** Position of the last event compared, in each log: what a follower that was done in the one goes on from in the other. */
  readonly heads: { readonly from: GlobalPosition; readonly to: GlobalPosition };
};

/** What is known of a stream that was read: kept small, a log may hold very many. */
type StreamDigest = { count: number; ids: string; content: string };
type LogDigest = { readonly streams: ReadonlyMap<string, StreamDigest>; readonly order: string; readonly events: number; readonly head: GlobalPosition };

const MOST_DIFFERENCES = 100;

/**
 * Reads two logs whole and compares them stream by stream: number of events, revisions, ids, types, data and metadata to the byte of their
 * JSON. Positions and the moments of recording belong to a store and are not compared. Of the first log, events after `until` do not count.
 */
export async function compareLogs({ from, to, until, onEvent, signal }: { readonly from: EventStore; readonly to: EventStore; readonly until: GlobalPosition; readonly onEvent?: () => void; readonly signal?: AbortSignal }): Promise<Comparison> {
  const first = await digestLog(from, until, onEvent, signal);
  const second = await digestLog(to, undefined, onEvent, signal);
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
  return { equal: differences.length === 0, events: first.events, streams: first.streams.size, sameOrder, differences: differences.slice(0, MOST_DIFFERENCES), heads: { from: first.head, to: second.head } };
}

function differenceOf(one: StreamDigest, other: StreamDigest): Difference['what'] | undefined {
  if (one.count !== other.count) return 'count';
  if (one.ids !== other.ids) return 'ids';
  return one.content === other.content ? undefined : 'content';
}

async function digestLog(store: EventStore, until: GlobalPosition | undefined, onEvent: (() => void) | undefined, signal: AbortSignal | undefined): Promise<LogDigest> {
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
