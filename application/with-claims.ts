import { hasCode } from '../domain/errors.ts';
import type { ClaimChange, ClaimRequest, Claims } from './ports/claims.ts';

/** Claims and abandons unique values during one run of a command. */
export type ClaimSession = {
  /**
   * Claims values before an append, and marks the values that the append gives up. Called again for each new decision
   * of the command.
   * @returns the values that other streams hold; when there are any, nothing was claimed
   */
  readonly claim: (change: ClaimChange) => Promise<readonly ClaimRequest[]>;
  /** Abandons the claims made so far: nothing was appended, and the command decides again. */
  readonly abandon: () => Promise<void>;
  /** From here on a failed run keeps its claims, because some of its events may be written. The reaper settles them. */
  readonly keepOnFailure: () => void;
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
  /** Values touched so far. Most commands touch no unique value, so the map is made when it is needed. */
  owners: Map<string, OwnerClaims> | undefined;
  isKept: boolean;
};

/**
 * Runs an append under claims of unique values: the work claims before it appends; afterwards the claims are confirmed
 * or released, and abandoned after a failure. After `outcome_unknown`, or when settling fails, the claims stay
 * unsettled: the reaper compares them with the owner's stream.
 * @throws what the work throws
 */
export async function withClaims<T>(
  { command, work, heldAfter }: WithClaimsInput<T>,
  { claims }: { readonly claims: Pick<Claims, 'claim' | 'confirm' | 'abandon'> },
): Promise<T> {
  const run: Run = { owners: undefined, isKept: false };

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
    result = await work({ claim, abandon, keepOnFailure: () => (run.isKept = true) });
  } catch (error) {
    if (!run.isKept && !hasCode(error, 'outcome_unknown')) await abandon();
    throw error;
  }
  if (run.owners) await settle(result);
  return result;
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
