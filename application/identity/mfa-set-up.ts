import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { spendProtection } from '../traffic/spend-protection.ts';
import type { ConfirmationDependencies } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import { authenticatorPurpose } from './user-secrets.ts';

export type ProposedAuthenticator = { readonly secret: string; readonly otpauthUrl: string };

/** Time to scan the code and type the first one. */
const PROPOSED_MS = 15 * 60_000;

/**
 * Proposes a secret for an authenticator, in place of an earlier proposal; nothing changes until its first code enables it (spec 4 A, MFA).
 * @throws `invalid_password`, `mfa_enabled`, `rate_limited` (`mfa.setup`)
 */
export async function setUpMfa(dependencies: ConfirmationDependencies, { userId, password }: { readonly userId: string; readonly password: string }, context: CommandContext): Promise<ProposedAuthenticator> {
  const { protections, totp, authenticators, vault } = dependencies;
  const user = await confirmPerson(dependencies, { userId, password }, context);
  if (user.mfa) throw refusal('mfa_enabled');
  await spendProtection(protections, 'mfa.setup', userId);
  const secret = totp.newSecret();
  await authenticators.propose(userId, vault.sealSecret(authenticatorPurpose(userId), secret), new Date(context.now().getTime() + PROPOSED_MS));
  return { secret, otpauthUrl: totp.otpauthUrl(secret, (await vault.openPersonal(userId, user.email)) ?? userId) };
}
