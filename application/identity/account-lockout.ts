import type { CommandContext } from '../../domain/context.ts';
import { runExclusivelyOnStream } from '../run-exclusively-on-stream.ts';
import type { LockoutDependencies } from './account-dependencies.ts';
import { decideOnUser } from './decide-on-user.ts';

/** Failures that one window allows for an account. */
const FAILURES = 5;
const WINDOW_SECONDS = 900;

/** The account whose failures are counted: a user, or an address without an account. */
export type Account = { readonly userId: string } | { readonly address: string };

/**
 * Checks a secret of an account under the lockout: after five failures within 15 minutes, in any process, every
 * attempt fails for the rest of the window. `verify` runs in every case, so that the response time does not reveal a
 * lockout. Each attempt is counted before the check and given back when it succeeds, so concurrent attempts cannot
 * exceed the limit.
 * @returns whether `verify` succeeded and the account is not locked
 */
export function withinLockout(
  { account, verify }: { readonly account: Account; readonly verify: () => Promise<boolean> },
  context: CommandContext,
  dependencies: LockoutDependencies,
): Promise<boolean> {
  const { rateCounters, eventStore } = dependencies;
  const scope = scopeOf(account);
  // One attempt at a time: concurrent sign-ins with the right password must not lock the account.
  return runExclusivelyOnStream({ stream: scope, work: attempt }, { eventStore });

  async function attempt(): Promise<boolean> {
    const outcome = await rateCounters.take({ scope, limit: FAILURES, windowSeconds: WINDOW_SECONDS });
    const verified = await verify();
    if (!outcome.allowed) return false;
    if (verified) await rateCounters.refund({ scope, limit: FAILURES, resetAt: outcome.resetAt });
    else if (outcome.remaining === 0) recordLockout(account, context, dependencies);
    return verified;
  }
}

/** Counts a failure that the caller detected, such as a wrong code. */
export async function countFailure(
  { userId }: { readonly userId: string },
  context: CommandContext,
  dependencies: LockoutDependencies,
): Promise<void> {
  await withinLockout({ account: { userId }, verify: () => Promise.resolve(false) }, context, dependencies);
}

/** Resets the failures of an account after its password was replaced. */
export function clearFailures(
  { userId }: { readonly userId: string },
  { rateCounters }: Pick<LockoutDependencies, 'rateCounters'>,
): Promise<void> {
  return rateCounters.clear(scopeOf({ userId }));
}

/**
 * Appends the lockout to the user's stream in the background. Awaiting the append would let the response time reveal
 * whether the account exists, because addresses without an account have no stream.
 */
function recordLockout(account: Account, context: CommandContext, dependencies: LockoutDependencies): void {
  if (!('userId' in account)) return;
  decideOnUser({ userId: account.userId, commandFor: () => ({ kind: 'block_sign_in' }) }, context, dependencies).catch(
    (error: unknown) => {
      dependencies.reportFailure('the lockout of an account could not be appended', error);
    },
  );
}

function scopeOf(account: Account): string {
  return 'userId' in account ? `lockout/user/${account.userId}` : `lockout/address/${account.address}`;
}
