import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { RECOVERY_CODES, recoveryCode } from '../../domain/identity/mfa.ts';
import { spendProtection } from '../traffic/spend-protection.ts';
import type { CodeDependencies } from './check-code.ts';
import { checkTotp } from './check-code.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { countFailure } from './lockout.ts';
import { recoveryDigest } from './user-secrets.ts';

/**
 * Enables the second factor by the first code of the authenticator that was set up (spec 4 A, MFA). The recovery codes are told this once.
 * @throws `mfa_enabled`, `mfa_not_set_up`, `rate_limited` (`mfa.verify`), `invalid_code`
 */
export async function enableMfa(
  dependencies: CodeDependencies & Pick<IdentityDependencies, 'reads' | 'secrets'>,
  { userId, code }: { readonly userId: string; readonly code: string },
  context: CommandContext,
): Promise<{ readonly recoveryCodes: readonly string[]; readonly position: GlobalPosition | undefined }> {
  const { reads, secrets, authenticators, protections, vault } = dependencies;
  const known = await reads.userById(userId);
  if (!known) throw refusal('authentication_required');
  if (known.mfa) throw refusal('mfa_enabled');
  const secret = await authenticators.proposed(userId, context.now());
  if (!secret) throw refusal('mfa_not_set_up');
  await spendProtection(protections, 'mfa.verify', userId);
  if (!(await checkTotp(dependencies, { userId, secret, code }, context))) {
    await countFailure(dependencies, userId, context);
    throw refusal('invalid_code');
  }
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => secrets.recoveryCode());
  const digests = recoveryCodes.map((one) => recoveryDigest(vault, userId, recoveryCode(one) ?? one));
  const { position } = await decideOnUser(dependencies, { userId, command: { kind: 'enable_mfa', secret, recoveryCodes: digests }, known }, context);
  await authenticators.settle(userId);
  return { recoveryCodes, position };
}
