import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { RECOVERY_CODES, recoveryCode } from '../../domain/identity/mfa.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import { consumeProtection } from '../traffic/consume-limit.ts';
import type { MfaDependencies } from './account-dependencies.ts';
import { countFailure } from './account-lockout.ts';
import { checkTotp } from './check-mfa-code.ts';
import { decideOnUser } from './decide-on-user.ts';
import { recoveryDigest } from './user-secrets.ts';

/**
 * Enables the second factor with the first code of the authenticator that `setUpMfa` proposed.
 * @returns the recovery codes, which cannot be read again, and the position to wait for
 * @throws `mfa_enabled`, `mfa_not_set_up`, `rate_limited` (`mfa.verify`), `invalid_code`
 */
export async function enableMfa(
  { userId, code }: { readonly userId: string; readonly code: string },
  context: CommandContext,
  dependencies: MfaDependencies & { readonly reads: IdentityReads; readonly secrets: RandomSecrets },
): Promise<{ readonly recoveryCodes: readonly string[]; readonly position: GlobalPosition | undefined }> {
  const { reads, secrets, authenticators, protections, vault } = dependencies;
  const user = await reads.userById(userId);
  if (!user) throw refusal('authentication_required');
  if (user.mfa) throw refusal('mfa_enabled');
  const secret = await authenticators.proposed(userId, context.now());
  if (!secret) throw refusal('mfa_not_set_up');
  await consumeProtection({ name: 'mfa.verify', subject: userId }, { protections });
  if (!(await checkTotp({ userId, secret, code }, context, dependencies))) {
    await countFailure({ userId }, context, dependencies);
    throw refusal('invalid_code');
  }
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => secrets.recoveryCode());
  const digests = recoveryCodes.map((one) => recoveryDigest({ userId, code: recoveryCode(one) ?? one }, { vault }));
  const { position } = await decideOnUser(
    { userId, commandFor: () => ({ kind: 'enable_mfa', secret, recoveryCodes: digests }), current: user },
    context,
    dependencies,
  );
  await authenticators.deleteProposed(userId);
  return { recoveryCodes, position };
}
