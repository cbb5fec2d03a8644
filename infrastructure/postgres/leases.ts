import { setTimeout as pause } from 'node:timers/promises';
import type { Lease, Leases } from '../../application/ports/leases.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { refusal } from '../../domain/errors.ts';
import type { Queryable } from './database.ts';

export type LeasesOptions = {
  readonly database: Queryable;
  /** Names this process among all that ever run; a new one after every start. */
  readonly owner: string;
  /** Default 10,000. */
  readonly ttlMs?: number;
  /** Tells waiting processes of a lease that was left; without it they look at intervals. */
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'>;
  /** Whether an owner surely runs no more: its leases are taken at once instead of when they run out. Default: never. */
  readonly isGone?: (owner: string) => boolean;
};

/** Channel on which the name of a lease that was left is published. */
const CHANNEL = 'lease';

/** Leases as rows of `operational.leases` with a fencing epoch; time is the database's clock (spec 5, rule 6). */
export function createLeases({ database, owner, ttlMs = 10_000, signals, isGone = () => false }: LeasesOptions): Leases {
  return {
    ttlMs,
    async acquire(name, signal) {
      for (;;) {
        signal.throwIfAborted();
        const sentAt = performance.now();
        const taken = await take(database, { name, owner, ttlMs, isGone });
        if (taken.epoch !== undefined) {
          const lease = hold({ database, name, owner, ttlMs, epoch: taken.epoch, renewedAt: sentAt, signals });
          if (!signal.aborted) return lease;
          await lease.release();
        } else {
          await untilLeft({ name, waitMs: Math.min(taken.remainingMs + 5, ttlMs / 3), signal, signals });
        }
      }
    },
  };
}

type Taken = { readonly epoch: number; readonly remainingMs?: undefined } | { readonly epoch?: undefined; readonly remainingMs: number };

async function take(database: Queryable, { name, owner, ttlMs, isGone }: { name: string; owner: string; ttlMs: number; isGone: (owner: string) => boolean }): Promise<Taken> {
  const [won] = await database.query<{ epoch: number }>(
    `insert into operational.leases as l (name, owner, epoch, expires_at)
     values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at
       where l.expires_at < clock_timestamp()
     returning epoch`,
    [name, owner, ttlMs],
  );
  if (won) return { epoch: won.epoch };
  const [held] = await database.query<{ remaining: number; holder: string; epoch: number }>(
    `select greatest(extract(epoch from expires_at - clock_timestamp()) * 1000, 0)::float8 as remaining, owner as holder, epoch
     from operational.leases where name = $1 and expires_at > clock_timestamp()`,
    [name],
  );
  if (held && isGone(held.holder)) {
    // Fenced like any change of owners: should it live after all, it can't write any more.
    const [taken] = await database.query<{ epoch: number }>(
      `update operational.leases set owner = $2, epoch = epoch + 1, expires_at = clock_timestamp() + $3 * interval '1 millisecond'
       where name = $1 and owner = $4 and epoch = $5 returning epoch`,
      [name, owner, ttlMs, held.holder, held.epoch],
    );
    if (taken) return { epoch: taken.epoch };
  }
  return { remainingMs: held?.remaining ?? 0 };
}

type Holding = Pick<LeasesOptions, 'database' | 'owner'> & {
  readonly name: string;
  readonly ttlMs: number;
  readonly epoch: number;
  /** When the statement that last set the expiry was sent: the row can't expire before this plus the time to live. */
  readonly renewedAt: number;
  readonly signals: LeasesOptions['signals'];
};

function hold({ database, name, owner, ttlMs, epoch, renewedAt, signals }: Holding): Lease {
  const lost = new AbortController();
  let surelyOursUntil = renewedAt + ttlMs;
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    timer = setTimeout(() => void renew(), ttlMs / 3);
    timer.unref();
  }

  async function renew(): Promise<void> {
    const sentAt = performance.now();
    try {
      const renewed = await database.execute(
        `update operational.leases set expires_at = clock_timestamp() + $4 * interval '1 millisecond'
         where name = $1 and owner = $2 and epoch = $3 and expires_at > '-infinity'`,
        [name, owner, epoch, ttlMs],
      );
      if (renewed === 0) lose();
      else surelyOursUntil = sentAt + ttlMs;
    } catch {
      // The next renewal tries again; what counts is whether the time has run out.
    }
    if (performance.now() > surelyOursUntil) lose();
    if (!lost.signal.aborted) schedule();
  }

  function lose(): void {
    lost.abort(refusal('lease_lost'));
  }

  schedule();
  return {
    name,
    epoch,
    signal: lost.signal,
    async release() {
      clearTimeout(timer);
      if (lost.signal.aborted) return;
      lose();
      try {
        await database.execute(`update operational.leases set expires_at = '-infinity' where name = $1 and owner = $2 and epoch = $3`, [name, owner, epoch]);
        signals?.publish(CHANNEL, name);
      } catch {
        // It runs out by itself.
      }
    },
  };
}

type Wait = { readonly name: string; readonly waitMs: number; readonly signal: AbortSignal; readonly signals: LeasesOptions['signals'] };

/** Until the lease may be free: its time ran out, its owner left it, or it is time to look again. */
async function untilLeft({ name, waitMs, signal, signals }: Wait): Promise<void> {
  const left = new AbortController();
  const unsubscribe = signals?.subscribe(CHANNEL, (freed) => {
    if (freed === name) left.abort();
  });
  try {
    await pause(waitMs, undefined, { signal: AbortSignal.any([signal, left.signal]) });
  } catch (error) {
    if (!left.signal.aborted && !signal.aborted) throw error;
  } finally {
    unsubscribe?.();
  }
}
