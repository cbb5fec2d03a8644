import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { type MfaMethod, recoveryCode, totpCode } from '../../domain/identity/mfa.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import { consumeProtection } from '../traffic/consume-limit.ts';
import type { MfaDependencies } from './account-dependencies.ts';
import { countFailure } from './account-lockout.ts';
import { decideOnUser } from './decide-on-user.ts';
import { authenticatorPurpose, recoveryDigest } from './user-secrets.ts';

export type CheckedCode = {
  readonly method: MfaMethod;
  /** Position of the event that used up a recovery code; undefined for authenticator codes. */
  readonly position: GlobalPosition | undefined;
};

/**
 * Checks a code of the user's authenticator or one of their recovery codes. A valid code is used up and works in no
 * process again. Each check counts towards the protection `mfa.verify`, each wrong code towards the account lockout.
 * @throws `rate_limited`, `invalid_code`
 */
export async function checkMfaCode(
  { user, code }: { readonly user: UserRecord; readonly code: string },
  context: CommandContext,
  dependencies: MfaDependencies,
): Promise<CheckedCode> {
  await consumeProtection({ name: 'mfa.verify', subject: user.id }, dependencies);
  const checked = user.mfa
    ? ((await checkTotp({ userId: user.id, secret: user.mfa.secret, code }, context, dependencies)) ??
      (await checkRecoveryCode({ user, code }, context, dependencies)))
    : undefined;
  if (checked) return checked;
  await countFailure({ userId: user.id }, context, dependencies);
  throw refusal('invalid_code');
}

/**
 * Checks a code of an authenticator and uses it up.
 * @returns undefined when the code is not valid now or was used before
 */
export async function checkTotp(
  {
    userId,
    secret,
    code: text,
  }: { readonly userId: string; readonly secret: NonNullable<UserRecord['mfa']>['secret']; readonly code: string },
  context: CommandContext,
  { authenticators, totp, vault }: Pick<MfaDependencies, 'authenticators' | 'totp' | 'vault'>,
): Promise<CheckedCode | undefined> {
  const code = totpCode(text);
  if (code === undefined) return undefined;
  const sharedSecret = await vault.openPersonalSecret(userId, authenticatorPurpose(userId), secret);
  const step = sharedSecret === undefined ? undefined : totp.stepOf(sharedSecret, code, context.now());
  return step !== undefined && (await authenticators.useStep(userId, step))
    ? { method: 'totp', position: undefined }
    : undefined;
}

/** Of concurrent uses of one recovery code, the first append to the user's stream wins. */
async function checkRecoveryCode(
  { user, code: text }: { readonly user: UserRecord; readonly code: string },
  context: CommandContext,
  dependencies: MfaDependencies,
): Promise<CheckedCode | undefined> {
  const code = recoveryCode(text);
  const digest = code === undefined ? undefined : recoveryDigest({ userId: user.id, code }, dependencies);
  if (digest === undefined || user.mfa?.recoveryCodes.includes(digest) !== true) return undefined;
  try {
    const { position } = await decideOnUser(
      { userId: user.id, commandFor: () => ({ kind: 'use_recovery_code', code: digest }), current: user },
      { ...context, actor: { kind: 'user', id: user.id } },
      dependencies,
    );
    return { method: 'recovery_code', position };
  } catch (error) {
    if (hasCode(error, 'invalid_code')) return undefined;
    throw error;
  }
}
