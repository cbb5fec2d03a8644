import type { ProjectionProgress } from '../../application/ports/projection-progress.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, parsePosition } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { checkpointOf } from './checkpoints.ts';

export type ProgressOptions = {
  readonly database: Database;
  readonly signals: Pick<Signals, 'publish' | 'subscribe'>;
  /**
   * Interval in milliseconds at which checkpoints are read while a caller waits, in case signals are lost. Default 250.
   */
  readonly pollMs?: number;
};

/** The port, with the methods by which this process's projectors report. */
export type TrackedProgress = ProjectionProgress & {
  /** Reports that a projector of this process moved. Ends waits in this process and in the others. */
  moved(name: string, position: GlobalPosition, how: 'moved' | 'restarted', applied: boolean): void;
  /** Reports that a projector of this process stopped. */
  stopped(name: string): void;
  close(): void;
};

const CHANNEL = 'projection';
/** Minimum time between two signals of one read model; each signal costs the server a NOTIFY. */
const PUBLISH_EVERY_MS = 10;

type Waiter = { readonly position: GlobalPosition; readonly settle: (error?: Error) => void };
type Tracked = {
  position: GlobalPosition;
  isKnown: boolean;
  stopped: boolean;
  publishing: boolean;
  publishAgain: boolean;
  /** Last known position at which the read model applied events. */
  changed: GlobalPosition;
  readonly waiters: Set<Waiter>;
  readonly listeners: Set<(position: GlobalPosition, applied: boolean) => void>;
};

/**
 * Tracks how far the read models are, in every process: from its own projectors, from signals, and from the checkpoints
 * while a caller waits.
 */
export function trackProgress({ database, signals, pollMs = 250 }: ProgressOptions): TrackedProgress {
  const models = new Map<string, Tracked>();
  let poll: NodeJS.Timeout | undefined;
  let closed = false;

  function model(name: string): Tracked {
    let tracked = models.get(name);
    if (!tracked) {
      tracked = {
        position: ORIGIN,
        isKnown: false,
        stopped: false,
        publishing: false,
        publishAgain: false,
        changed: ORIGIN,
        waiters: new Set(),
        listeners: new Set(),
      };
      models.set(name, tracked);
    }
    return tracked;
  }

  /** `changed`: the last position at which the read model applied events; `position` when unknown. */
  function advance(name: string, position: GlobalPosition, how: 'moved' | 'restarted', changed: GlobalPosition): void {
    const tracked = model(name);
    tracked.isKnown = true;
    tracked.stopped = false;
    if (how === 'moved' && position <= tracked.position) return;
    const applied = how === 'restarted' || changed > tracked.changed;
    tracked.changed = changed;
    tracked.position = position;
    for (const waiter of tracked.waiters) if (waiter.position <= position) waiter.settle();
    for (const listener of tracked.listeners) listener(position, applied);
  }

  function markStopped(name: string): void {
    const tracked = model(name);
    tracked.stopped = true;
    for (const waiter of tracked.waiters) waiter.settle(refusal('projection_stopped', { body: { read_model: name } }));
  }

  async function readRows(names: readonly string[]): Promise<void> {
    const rows = await database.query<{
      name: string;
      position: string;
      stopped_at: string | null;
      stopped_reason: string | null;
    }>(
      `select p.name, c.position, c.stopped_at, c.stopped_reason from operational.projections p
       join operational.checkpoints c on c.name = 'projection/' || p.name || '/' || p.version where p.name = any ($1)`,
      [names],
      'progress-poll',
    );
    for (const row of rows) {
      const { position, stopped } = checkpointOf(row);
      advance(row.name, position, 'moved', position);
      if (stopped) markStopped(row.name);
    }
  }

  function waitedFor(): readonly string[] {
    return [...models].flatMap(([name, { waiters }]) => (waiters.size > 0 ? [name] : []));
  }

  function pollWhileWaiting(delayMs: number): void {
    if (poll !== undefined || closed) return;
    poll = setTimeout(() => {
      const names = waitedFor();
      const reading = names.length > 0 ? readRows(names) : Promise.resolve();
      // A failed read is repeated at the next poll; each wait has its own timeout.
      void reading
        .catch(() => undefined)
        .finally(() => {
          poll = undefined;
          if (waitedFor().length > 0) pollWhileWaiting(pollMs);
        });
    }, delayMs);
    poll.unref();
  }

  function waitForOne(name: string, position: GlobalPosition, timeoutMs: number): Promise<boolean> {
    const tracked = model(name);
    if (tracked.position >= position) return Promise.resolve(true);
    if (tracked.stopped) return Promise.reject(refusal('projection_stopped', { body: { read_model: name } }));
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        position,
        settle(error) {
          clearTimeout(timer);
          tracked.waiters.delete(waiter);
          if (error) reject(error);
          else resolve(true);
        },
      };
      const timer = setTimeout(() => {
        tracked.waiters.delete(waiter);
        resolve(false);
      }, timeoutMs);
      tracked.waiters.add(waiter);
      pollWhileWaiting(tracked.isKnown ? pollMs : 0);
    });
  }

  function publish(name: string): void {
    const tracked = model(name);
    tracked.publishAgain = tracked.publishing;
    if (tracked.publishing || closed) return;
    tracked.publishing = true;
    signals.publish(CHANNEL, JSON.stringify({ name, position: tracked.position, changed: tracked.changed }));
    setTimeout(() => {
      tracked.publishing = false;
      if (tracked.publishAgain) publish(name);
    }, PUBLISH_EVERY_MS).unref();
  }

  const unsubscribe = signals.subscribe(CHANNEL, (payload) => {
    const signal = readSignal(payload);
    if (!signal) return;
    if (signal.stopped) markStopped(signal.name);
    else advance(signal.name, signal.position, 'moved', signal.changed ?? signal.position);
  });

  return {
    async waitFor(names, position, timeoutMs) {
      const reached = await Promise.all(names.map((name) => waitForOne(name, position, timeoutMs)));
      return reached.every(Boolean);
    },
    position: (name) => models.get(name)?.position ?? ORIGIN,
    onMove(name, listener) {
      const entry = (position: GlobalPosition, applied: boolean): void => {
        listener(position, applied);
      };
      const { listeners } = model(name);
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
    moved(name, position, how, applied) {
      advance(name, position, how, applied ? position : model(name).changed);
      publish(name);
    },
    stopped(name) {
      markStopped(name);
      signals.publish(CHANNEL, JSON.stringify({ name, position: model(name).position, stopped: true }));
    },
    close() {
      closed = true;
      clearTimeout(poll);
      unsubscribe();
      for (const { waiters } of models.values()) for (const waiter of waiters) waiter.settle(refusal('unavailable'));
    },
  };
}

/** Parses a signal of `moved` or `stopped`. @returns undefined for any other payload */
function readSignal(payload: string):
  | {
      readonly name: string;
      readonly position: GlobalPosition;
      readonly changed: GlobalPosition | undefined;
      readonly stopped: boolean;
    }
  | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('name' in value) || !('position' in value)) return undefined;
  if (typeof value.name !== 'string' || typeof value.position !== 'string') return undefined;
  const position = parsePosition(value.position);
  const changed = 'changed' in value && typeof value.changed === 'string' ? parsePosition(value.changed) : undefined;
  return position && { name: value.name, position, changed, stopped: 'stopped' in value && value.stopped === true };
}
