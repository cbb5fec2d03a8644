import { hasCode } from '../domain/errors.ts';
import type { ClaimChange, ClaimRequest, Claims } from './ports/claims.ts';
import type { EventStore, Guards } from './ports/event-store.ts';

/** Claims and abandons unique values during one run of a command. */
export type ClaimSession = {
  /**
   * Takes and releases values together with the next append to the owner's stream, which must get `guardsOf`. Called
   * again for each new decision; the last call counts. A store without guards claims them now, as `claim` does.
   * @returns the values that other streams are known to hold; when there are any, nothing may be appended
   */
  readonly take: (change: ClaimChange) => Promise<readonly ClaimRequest[]>;
  /** The guards of an append to the stream. Undefined when it changes no value, or the store has no guards. */
  readonly guardsOf: (owner: string) => Guards | undefined;
  /** The values of `take` that other streams hold; called after the guard of an append failed. */
  readonly findHeldValues: (owner: string) => Promise<readonly ClaimRequest[]>;
  /**
   * Claims values before an append, and marks the values that the append gives up. Called again for each new decision
   * of the command.
   * @returns the values that other streams hold; when there are any, nothing was claimed
   */
  readonly claim: (change: ClaimChange) => Promise<readonly ClaimRequest[]>;
  /** Abandons the claims made so far: nothing was appended, and the command decides again. */
  readonly abandon: () => Promise<void>;
  /** From here on a failed run keeps its claims, because some of its events may be written. The reaper settles them. */
  readonly keepClaimsOnFailure: () => void;
};

export type WithClaimsInput<T> = {
  /** Names the run; see `Claims`. Leave it out only where an owner has a single writer. */
  readonly command?: string | undefined;
  /** Claims values in the session, then appends. */
  readonly work: (session: ClaimSession) => Promise<T>;
  /**
   * The values that the owner's stream holds after the work; undefined when nothing was appended to it. Needed where
   * the work may decide more than once. Default: the stream holds the claimed values and not the released ones.
   */
  readonly heldAfter?: (result: T, owner: string) => readonly ClaimRequest[] | undefined;
};

type OwnerClaims = { readonly claimed: ClaimRequest[]; readonly released: ClaimRequest[] };

type Run = {
  /** Values claimed so far. Most commands touch no unique value, so the maps are made when they are needed. */
  owners: Map<string, OwnerClaims> | undefined;
  /** Values that appends take and release, by stream. */
  taken: Map<string, ClaimChange> | undefined;
  isKept: boolean;
};

export type WithClaimsDependencies = {
  readonly claims: Pick<Claims, 'keysOf' | 'claim' | 'confirm' | 'abandon' | 'heldByOthers'>;
  readonly eventStore: Pick<EventStore, 'capabilities'>;
};

/**
 * Runs an append under claims of unique values.
 * - On a store with guards, the append itself takes and releases the values of its stream (`take`).
 * - On another store, and for the values of other streams (`claim`), the work claims the values before it appends.
 * - After the append these claims are confirmed or released. After a failure they are abandoned.
 * - After `outcome_unknown`, or when settling fails, they stay unsettled. The reaper compares them with the owner's
 *   stream.
 * @throws what the work throws
 */
export async function withClaims<T>(
  { command, work, heldAfter }: WithClaimsInput<T>,
  { claims, eventStore }: WithClaimsDependencies,
): Promise<T> {
  const run: Run = { owners: undefined, taken: undefined, isKept: false };

  function take(change: ClaimChange): Promise<readonly ClaimRequest[]> {
    if (!eventStore.capabilities.guards) return claim(change);
    if (change.claimed.length + (change.released ?? []).length > 0) (run.taken ??= new Map()).set(change.owner, change);
    else run.taken?.delete(change.owner);
    return Promise.resolve([]);
  }

  function guardsOf(owner: string): Guards | undefined {
    const change = run.taken?.get(owner);
    return change && { taken: claims.keysOf(change.claimed), released: claims.keysOf(change.released ?? []) };
  }

  async function findHeldValues(owner: string): Promise<readonly ClaimRequest[]> {
    return claims.heldByOthers(owner, run.taken?.get(owner)?.claimed ?? []);
  }

  async function claim({ owner, claimed, released = [] }: ClaimChange): Promise<readonly ClaimRequest[]> {
    if (claimed.length + released.length === 0) return [];
    run.owners ??= new Map();
    const touched = run.owners.get(owner);
    if (touched) {
      touched.claimed.push(...claimed);
      touched.released.push(...released);
    } else run.owners.set(owner, { claimed: [...claimed], released: [...released] });
    return claims.claim({ owner, claimed, released, command });
  }

  async function abandon(): Promise<void> {
    run.taken = undefined;
    const all = run.owners ?? [];
    run.owners = undefined;
    for (const [owner, { claimed }] of all) await abandonOne(owner, claimed);
  }

  async function abandonOne(owner: string, claimed: readonly ClaimRequest[]): Promise<void> {
    if (claimed.length > 0) await claims.abandon({ owner, claimed, command }).catch(() => undefined);
  }

  async function settle(result: T): Promise<void> {
    for (const [owner, { claimed, released }] of run.owners ?? []) {
      if (!heldAfter) {
        await claims.confirm({ owner, confirmed: claimed, released, command }).catch(() => undefined);
        continue;
      }
      const held = heldAfter(result, owner);
      if (held) {
        const [confirmed, freed] = partition([...claimed, ...released], (request) => includes(held, request));
        await claims.confirm({ owner, confirmed, released: freed, command }).catch(() => undefined);
      } else await abandonOne(owner, claimed);
    }
  }

  let result: T;
  try {
    result = await work({
      take,
      guardsOf,
      findHeldValues,
      claim,
      abandon,
      keepClaimsOnFailure: () => (run.isKept = true),
    });
  } catch (error) {
    if (!run.isKept && !hasCode(error, 'outcome_unknown')) await abandon();
    throw error;
  }
  if (run.owners) await settle(result);
  return result;
}

/** How a command takes the values of a session with its append; members of the input of `handleCommand`. */
export type TakenValues = {
  readonly beforeAppend: () => Promise<Guards | undefined>;
  readonly onGuardFailed: () => Promise<void>;
};

/**
 * The members of the input of `handleCommand` for a command whose values do not depend on its decision: they were
 * taken before it.
 * @param input `refuse` throws when there are values that other streams hold
 */
export function takenValues(
  { owner, refuse }: { readonly owner: string; readonly refuse: (held: readonly ClaimRequest[]) => void },
  session: Pick<ClaimSession, 'guardsOf' | 'findHeldValues'>,
): TakenValues {
  return {
    beforeAppend: () => Promise.resolve(session.guardsOf(owner)),
    async onGuardFailed() {
      refuse(await session.findHeldValues(owner));
    },
  };
}

export type WithEndingScopesInput<T> = {
  readonly tenant: string;
  /** Prefixes of the scopes that end with the append. */
  readonly prefixes: readonly string[];
  readonly work: () => Promise<T>;
};

/**
 * Runs an append after which every value in the scopes is free. After a failure the reaper settles the claims in them.
 */
export async function withEndingScopes<T>(
  { tenant, prefixes, work }: WithEndingScopesInput<T>,
  { claims }: { readonly claims: Pick<Claims, 'unsettleScopes' | 'releaseScopes'> },
): Promise<T> {
  for (const prefix of prefixes) await claims.unsettleScopes({ tenant, prefix });
  const result = await work();
  for (const prefix of prefixes) await claims.releaseScopes({ tenant, prefix }).catch(() => undefined);
  return result;
}

function includes(requests: readonly ClaimRequest[], { tenant, scope, value }: ClaimRequest): boolean {
  return requests.some((other) => other.tenant === tenant && other.scope === scope && other.value === value);
}

function partition<T>(items: readonly T[], holds: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  const [yes, no]: [T[], T[]] = [[], []];
  for (const item of items) (holds(item) ? yes : no).push(item);
  return [yes, no];
}
