import type { CommandContext } from '../../domain/context.ts';
import { inTurn } from '../in-turn.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';

/** Failures of one account that a window allows (spec 1, account lockout). */
const FAILURES = 5;
const WINDOW_SECONDS = 900;

/** An account as its failures are counted: a user's id, or the address of an account that there is none of. */
export type Account = { readonly userId: string } | { readonly address: string };

type Needs = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'rateCounters' | 'reportFailure'>;

/**
 * Proves something that only the owner of an account knows, within the lockout (spec 1, account lockout): five failures in 15 minutes, wherever
 * they happen, and for the rest of the window nothing is right. `prove` runs in every case, so that an answer takes the same time.
 * Each try is taken before it is proved and given back when it was right: of guesses that come together no more than five are looked at.
 * @returns whether it was right and the account is not blocked
 */
export function withinLockout(dependencies: Needs, account: Account, prove: () => Promise<boolean>, context: CommandContext): Promise<boolean> {
  const { rateCounters, eventStore } = dependencies;
  const scope = scopeOf(account);
  // One at a time: a person's own sign-ins that come together don't block each other.
  return inTurn({ eventStore, stream: scope }, async () => {
    const taken = await rateCounters.take({ scope, limit: FAILURES, windowSeconds: WINDOW_SECONDS });
    const right = await prove();
    if (!taken.allowed) return false;
    if (right) await rateCounters.giveBack({ scope, limit: FAILURES, resetAt: taken.resetAt });
    else if (taken.remaining === 0) tellOfBlock(dependencies, account, context);
    return right;
  });
}

/** Counts a failure that was noticed elsewhere: a wrong code (spec 4 A, sign-in details). */
export async function countFailure(dependencies: Needs, userId: string, context: CommandContext): Promise<void> {
  await withinLockout(dependencies, { userId }, () => Promise.resolve(false), context);
}

/** A new password begins anew: what was guessed at is no more. */
export function forgetFailures({ rateCounters }: Pick<IdentityDependencies, 'rateCounters'>, userId: string): Promise<void> {
  return rateCounters.clear(scopeOf({ userId }));
}

/** Not waited for: only accounts that exist have a stream, and the time of an answer must not tell. */
function tellOfBlock(dependencies: Needs, account: Account, context: CommandContext): void {
  if (!('userId' in account)) return;
  decideOnUser(dependencies, { userId: account.userId, command: { kind: 'block_sign_in' } }, context).catch((error: unknown) => {
    dependencies.reportFailure('a blocked sign-in is missing in the history', error);
  });
}

function scopeOf(account: Account): string {
  return 'userId' in account ? `lockout/user/${account.userId}` : `lockout/address/${account.address}`;
}
