import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { EventSource, SourceFilter, SourceItem } from './collaborators.ts';

/** What was read since the last time: all that waits, up to the most that a batch may hold. */
export type Batch = {
  readonly events: readonly RecordedEvent[];
  /** Where to go on; past the last event when others were filtered out. */
  readonly position: GlobalPosition;
  /** Whether the head was reached at the end of this batch and nothing more waits. */
  readonly caughtUp: boolean;
};

export type BatchOptions = {
  readonly source: EventSource;
  readonly after: GlobalPosition;
  readonly filter: SourceFilter;
  /** Most events of a batch, and most that are read ahead while one is applied. */
  readonly maxEvents: number;
  readonly signal: AbortSignal;
};

export type Batches = {
  /** Waits for something to do. `idle` when nothing came within `timeoutMs`; `ended` when the signal ended it. @throws what the source throws */
  next(timeoutMs?: number): Promise<Batch | 'idle' | 'ended'>;
  /** Ends the reading and waits for it. */
  close(): Promise<void>;
};

/** Reads ahead of the one who applies, at most one batch, and hands over whatever has come: little when live, much when behind. */
export function openBatches({ source, after, filter, maxEvents, signal }: BatchOptions): Batches {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  const waiting: SourceItem[] = [];
  let waitingEvents = 0;
  let ended: { readonly error?: unknown } | undefined;
  let caughtUp = false;
  let wakeReader: (() => void) | undefined;
  let wakeTaker: (() => void) | undefined;

  async function read(): Promise<void> {
    let last = after;
    for await (const item of source.subscribe({ after, filter, batchSize: Math.min(maxEvents, 500), signal: stop })) {
      const fresh = freshPart(item, last);
      if (!fresh) continue;
      last = fresh.position;
      waiting.push(fresh);
      waitingEvents += fresh.kind === 'events' ? fresh.events.length : 0;
      wakeTaker?.();
      while (waitingEvents >= maxEvents && !stop.aborted) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
      }
      if (stop.aborted) return;
    }
  }

  function take(): Batch | undefined {
    const [first] = waiting;
    if (!first) return undefined;
    let taken = 0;
    const events: RecordedEvent[] = [];
    let { position } = first;
    for (const item of waiting) {
      if (item.kind === 'events') {
        if (taken > 0 && events.length + item.events.length > maxEvents) break;
        for (const event of item.events) events.push(event);
      }
      position = item.position;
      caughtUp = item.kind === 'caught_up' || (caughtUp && events.length < maxEvents);
      taken += 1;
    }
    waiting.splice(0, taken);
    waitingEvents -= events.length;
    wakeReader?.();
    return { events, position, caughtUp: caughtUp && waiting.length === 0 };
  }

  const reading = read()
    .then(
      () => {
        ended = {};
      },
      (error: unknown) => {
        ended = stop.aborted ? {} : { error };
      },
    )
    .finally(() => wakeTaker?.());
  stop.addEventListener('abort', () => {
    wakeReader?.();
    wakeTaker?.();
  }, { once: true });

  return {
    async next(timeoutMs) {
      for (;;) {
        if (stop.aborted) return 'ended';
        const batch = take();
        if (batch) return batch;
        if (ended) {
          if ('error' in ended) throw ended.error;
          return 'ended';
        }
        const woken = await new Promise<boolean>((resolve) => {
          const timer = timeoutMs === undefined ? undefined : setTimeout(() => {
            resolve(false);
          }, timeoutMs);
          wakeTaker = () => {
            clearTimeout(timer);
            resolve(true);
          };
        });
        wakeTaker = undefined;
        if (!woken) return 'idle';
      }
    },
    async close() {
      closing.abort();
      await reading;
    },
  };
}

/** The part of an item that lies past what was seen: a source that reconnects may repeat itself. */
function freshPart(item: SourceItem, last: GlobalPosition): SourceItem | undefined {
  if (item.kind === 'caught_up') return item.position < last ? { ...item, position: last } : item;
  if (item.position <= last) return undefined;
  if (item.kind === 'checkpoint') return item;
  const [first] = item.events;
  if (first && first.position > last) return item;
  return { ...item, events: item.events.filter(({ position }) => position > last) };
}
