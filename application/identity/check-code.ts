import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { MfaMethod } from '../../domain/identity/mfa.ts';
import { recoveryCode, totpCode } from '../../domain/identity/mfa.ts';
import { spendProtection } from '../traffic/spend-protection.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { countFailure } from './lockout.ts';
import { authenticatorPurpose, recoveryDigest } from './user-secrets.ts';

export type CodeDependencies = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'rateCounters' | 'reportFailure' | 'protections' | 'authenticators' | 'totp' | 'vault'>;

/** How a code was right; `position` where a recovery code went. */
export type CheckedCode = { readonly method: MfaMethod; readonly position: GlobalPosition | undefined };

/**
 * Checks a code of the user's authenticator or one of their recovery codes, and uses it up: neither works twice, in no process (spec 4 A, MFA).
 * Each check counts towards `mfa.verify`, each wrong code towards the lockout.
 * @throws `rate_limited`, `invalid_code`
 */
export async function checkCode(dependencies: CodeDependencies, { user, code }: { readonly user: UserRecord; readonly code: string }, context: CommandContext): Promise<CheckedCode> {
  await spendProtection(dependencies.protections, 'mfa.verify', user.id);
  const checked = user.mfa ? ((await checkTotp(dependencies, { userId: user.id, secret: user.mfa.secret, code }, context)) ?? (await checkRecoveryCode(dependencies, { user, code }, context))) : undefined;
  if (checked) return checked;
  await countFailure(dependencies, user.id, context);
  throw refusal('invalid_code');
}

/** Whether a code is that of a secret now and was not used before; uses it up. */
export async function checkTotp(
  { authenticators, totp, vault }: Pick<IdentityDependencies, 'authenticators' | 'totp' | 'vault'>,
  { userId, secret, code: text }: { readonly userId: string; readonly secret: NonNullable<UserRecord['mfa']>['secret']; readonly code: string },
  context: CommandContext,
): Promise<CheckedCode | undefined> {
  const code = totpCode(text);
  const step = code === undefined ? undefined : totp.stepOf(vault.openSecret(authenticatorPurpose(userId), secret), code, context.now());
  return step !== undefined && (await authenticators.useStep(userId, step)) ? { method: 'totp', position: undefined } : undefined;
}

/** The user's stream says who used a code first: of many that come together one wins. */
async function checkRecoveryCode(dependencies: CodeDependencies, { user, code: text }: { readonly user: UserRecord; readonly code: string }, context: CommandContext): Promise<CheckedCode | undefined> {
  const code = recoveryCode(text);
  const digest = code === undefined ? undefined : recoveryDigest(dependencies.vault, user.id, code);
  if (digest === undefined || user.mfa?.recoveryCodes.includes(digest) !== true) return undefined;
  try {
    const { position } = await decideOnUser(dependencies, { userId: user.id, command: { kind: 'use_recovery_code', code: digest }, known: user }, { ...context, actor: { kind: 'user', id: user.id } });
    return { method: 'recovery_code', position };
  } catch (error) {
    if (hasCode(error, 'invalid_code')) return undefined;
    throw error;
  }
}
