import { createKeyedMutex } from '../../application/concurrency/keyed-mutex.ts';
import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import type { Lease, Leases } from '../../application/ports/leases.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { refusal } from '../../domain/errors.ts';
import type { Database } from './database.ts';

export type LeasesOptions = {
  readonly database: Pick<Database, 'query' | 'execute'>;
  /** Unique name of this process; different after every start. */
  readonly owner: string;
  /** TTL in milliseconds. Default 10,000. */
  readonly ttlMs?: number;
  /** Notifies waiting processes of a released lease; without signals they poll. */
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'>;
  /**
   * Whether an owner is known to have exited: its leases are then taken immediately instead of after the TTL. Default:
   * never.
   */
  readonly hasExited?: (owner: string) => boolean;
};

/** Channel on which the name of a released lease is published. */
const CHANNEL = 'lease';

/** Creates leases as rows of `operational.leases` with a fencing epoch. Times use the database's clock. */
export function createLeases({
  database,
  owner,
  ttlMs = 10_000,
  signals,
  hasExited = () => false,
}: LeasesOptions): Leases {
  /** Epochs of the leases that this process holds. */
  const holding = new Map<string, number>();
  /** Attempts of this process for one name run one after another, so that `holding` is complete. */
  const attempts = createKeyedMutex();
  /** A row of this process that no lease stands for remains when a statement takes effect after its time limit. */
  const isFree = (name: string, holder: string, epoch: number): boolean =>
    holder === owner ? holding.get(name) !== epoch : hasExited(holder);

  async function attempt(name: string): Promise<Lease | number> {
    const renewedAt = performance.now();
    const attempt = await take(database, { name, owner, ttlMs, isFree: (...row) => isFree(name, ...row) });
    if (attempt.epoch === undefined) return attempt.remainingMs;
    const { epoch } = attempt;
    holding.set(name, epoch);
    const lease = hold({ database, name, owner, ttlMs, epoch, renewedAt, signals });
    lease.signal.addEventListener('abort', () => {
      if (holding.get(name) === epoch) holding.delete(name);
    });
    return lease;
  }

  return {
    ttlMs,
    async acquire(name, signal) {
      for (;;) {
        signal.throwIfAborted();
        const lease = await attempts.run(name, () => attempt(name));
        if (typeof lease !== 'number') {
          if (!signal.aborted) return lease;
          await lease.release();
        } else {
          await waitForRelease({ name, waitMs: Math.min(lease + 5, ttlMs / 3), signal, signals });
        }
      }
    },
  };
}

type Taken =
  | { readonly epoch: number; readonly remainingMs?: undefined }
  | { readonly epoch?: undefined; readonly remainingMs: number };

async function take(
  database: Pick<Database, 'query' | 'execute'>,
  {
    name,
    owner,
    ttlMs,
    isFree,
  }: { name: string; owner: string; ttlMs: number; isFree: (holder: string, epoch: number) => boolean },
): Promise<Taken> {
  const [won] = await database.query<{ epoch: number }>(
    `insert into operational.leases as l (name, owner, epoch, expires_at)
     values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update set owner = excluded.owner, epoch = l.epoch + 1, expires_at = excluded.expires_at
       where l.expires_at < clock_timestamp()
     returning epoch`,
    [name, owner, ttlMs],
  );
  if (won) return { epoch: won.epoch };
  const [current] = await database.query<{ remaining: number; holder: string; epoch: number }>(
    `select greatest(extract(epoch from expires_at - clock_timestamp()) * 1000, 0)::float8 as remaining,
     owner as holder, epoch
     from operational.leases where name = $1 and expires_at > clock_timestamp()`,
    [name],
  );
  if (current && isFree(current.holder, current.epoch)) {
    // The new epoch fences the former holder: should its process still run, it cannot write any more.
    const [next] = await database.query<{ epoch: number }>(
      `update operational.leases
       set owner = $2, epoch = epoch + 1, expires_at = clock_timestamp() + $3 * interval '1 millisecond'
       where name = $1 and owner = $4 and epoch = $5 returning epoch`,
      [name, owner, ttlMs, current.holder, current.epoch],
    );
    if (next) return { epoch: next.epoch };
  }
  return { remainingMs: current?.remaining ?? 0 };
}

type Holding = Pick<LeasesOptions, 'database' | 'owner'> & {
  readonly name: string;
  readonly ttlMs: number;
  readonly epoch: number;
  /** When the statement that last set the expiry was sent: the row cannot expire before this time plus the TTL. */
  readonly renewedAt: number;
  readonly signals: LeasesOptions['signals'];
};

function hold({ database, name, owner, ttlMs, epoch, renewedAt, signals }: Holding): Lease {
  const lost = new AbortController();
  let heldUntil = renewedAt + ttlMs;
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
      else heldUntil = sentAt + ttlMs;
    } catch {
      // The next renewal tries again. The lease is lost only when its time has run out.
    }
    if (performance.now() > heldUntil) {
      lose();
      // A renewal may still take effect after its time limit; without this the row would block others for one TTL.
      await free().catch(() => undefined);
    }
    if (!lost.signal.aborted) schedule();
  }

  function lose(): void {
    lost.abort(refusal('lease_lost'));
  }

  async function free(): Promise<void> {
    await database.execute(
      `update operational.leases set expires_at = '-infinity' where name = $1 and owner = $2 and epoch = $3`,
      [name, owner, epoch],
    );
    signals?.publish(CHANNEL, name);
  }

  schedule();
  return {
    name,
    epoch,
    signal: lost.signal,
    async isHeld() {
      const rows = await database.query(
        'select 1 from operational.leases where name = $1 and owner = $2 and epoch = $3',
        [name, owner, epoch],
      );
      return rows.length === 1;
    },
    async release() {
      clearTimeout(timer);
      if (lost.signal.aborted) return;
      lose();
      try {
        await free();
      } catch {
        // The lease expires after its TTL.
      }
    },
  };
}

type Wait = {
  readonly name: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly signals: LeasesOptions['signals'];
};

/** Waits until the lease may be free: it expired, its holder released it, or it is time to check again. */
async function waitForRelease({ name, waitMs, signal, signals }: Wait): Promise<void> {
  const left = new AbortController();
  const unsubscribe = signals?.subscribe(CHANNEL, (freed) => {
    if (freed === name) left.abort();
  });
  try {
    await stoppablePause(AbortSignal.any([signal, left.signal]))(waitMs);
  } finally {
    unsubscribe?.();
  }
}
