import { v7 as uuidv7 } from 'uuid';
import type {
  AppendResult,
  EventFilter,
  EventStore,
  Expected,
  SubscriptionItem,
} from '../../application/ports/event-store.ts';
import type { GlobalPosition, NewEvent, RecordedEvent } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';

/** Creates an event with a new id. */
export function newEvent(
  parts: { type?: string; data?: JsonObject; tenant?: string; correlationId?: string; id?: string } = {},
): NewEvent {
  const correlationId = parts.correlationId ?? uuidv7();
  return {
    id: parts.id ?? uuidv7(),
    type: parts.type ?? 'EntryCreated',
    data: parts.data ?? { title: 'A page scraped and written again' },
    metadata: {
      tenant: parts.tenant ?? 'default',
      actor: { kind: 'user', id: uuidv7() },
      $correlationId: correlationId,
      $causationId: correlationId,
      occurred_at: '2026-01-02T03:04:05.678Z',
      schema_version: 1,
    },
  };
}

/** Creates `count` events numbered from 0 in `data.n`. */
export function newEvents(count: number, parts: Parameters<typeof newEvent>[0] = {}): readonly NewEvent[] {
  return Array.from({ length: count }, (_, n) => newEvent({ ...parts, data: { n } }));
}

/** Characters in the data of a large event. */
export const LARGE = 300_000;

/** Creates events of which few fill a page. They fit one append at the default limit of EventStoreDB. */
export function newLargeEvents(count: number): readonly NewEvent[] {
  return Array.from({ length: count }, () => newEvent({ data: { text: 'x'.repeat(LARGE) } }));
}

/** Returns a stream name that no other test uses. */
export function newStream(category = 'entry', tenant = 'default'): string {
  return `${category}-${tenant}.${uuidv7()}`;
}

/** Returns a tenant that no other test uses. */
export function newTenant(): string {
  return `t${uuidv7().replaceAll('-', '')}`;
}

/** Collects all items of an iteration. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Returns the code of the error of a call, or 'nothing was refused' when the call succeeds. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
    throw error;
  }
  return 'nothing was refused';
}

/** Appends events one by one with increasing expected revisions. */
export async function appendEach(
  store: EventStore,
  stream: string,
  events: readonly NewEvent[],
  from: Expected = 'no_stream',
): Promise<readonly AppendResult[]> {
  const results: AppendResult[] = [];
  let expected = from;
  for (const event of events) {
    const result = await store.append(stream, [event], { expected });
    results.push(result);
    expected = result.revision;
  }
  return results;
}

export const idsOf = (events: readonly { readonly id: string }[]): readonly string[] => events.map(({ id }) => id);
export const revisionsOf = (events: readonly RecordedEvent[]): readonly number[] =>
  events.map(({ revision }) => revision);
export const positionsOf = (events: readonly RecordedEvent[]): readonly GlobalPosition[] =>
  events.map(({ position }) => position);

/** A subscription that a test follows in the background. */
export type Follower = {
  readonly items: readonly SubscriptionItem[];
  readonly events: () => readonly RecordedEvent[];
  readonly position: () => GlobalPosition | undefined;
  /** Resolves when the condition holds after an item. Rejects when the subscription ends first or after `timeoutMs`. */
  until(condition: (follower: Follower) => boolean, timeoutMs?: number): Promise<void>;
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
};

export type FollowOptions = {
  readonly after: GlobalPosition;
  readonly filter?: EventFilter;
  readonly batchSize?: number;
  /** Awaited before the next item is pulled. */
  readonly onItem?: (item: SubscriptionItem) => Promise<void> | void;
};

/** Follows a subscription until `stop`. */
export function follow(store: EventStore, { onItem, ...options }: FollowOptions): Follower {
  const controller = new AbortController();
  const items: SubscriptionItem[] = [];
  const watchers = new Set<() => void>();
  let ended: { readonly error?: unknown } | undefined;
  const iteration = (async () => {
    try {
      for await (const item of store.subscribe({ ...options, signal: controller.signal })) {
        items.push(item);
        for (const watcher of [...watchers]) watcher();
        await onItem?.(item);
      }
      ended = {};
    } catch (error) {
      ended = { error };
    }
    for (const watcher of [...watchers]) watcher();
  })();
  const follower: Follower = {
    items,
    events: () => items.flatMap((item) => (item.kind === 'events' ? item.events : [])),
    position: () => items.at(-1)?.position,
    async until(condition, timeoutMs = 10_000) {
      if (condition(follower)) return;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          finish();
          reject(
            new Error(`not seen within ${timeoutMs} ms; ${items.length} items, ${follower.events().length} events`),
          );
        }, timeoutMs);
        const watcher = () => {
          if (condition(follower)) {
            finish();
            resolve();
          } else if (ended) {
            finish();
            reject(ended.error instanceof Error ? ended.error : new Error('the subscription ended'));
          }
        };
        const finish = () => {
          clearTimeout(timer);
          watchers.delete(watcher);
        };
        watchers.add(watcher);
        watcher();
      });
    },
    caughtUp: () => follower.until(() => items.some(({ kind }) => kind === 'caught_up')),
    async stop() {
      controller.abort();
      await iteration;
      if (ended && 'error' in ended) throw ended.error;
    },
  };
  return follower;
}
