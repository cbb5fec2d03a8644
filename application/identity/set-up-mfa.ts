import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { consumeProtection } from '../traffic/consume-limit.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import { reauthenticate } from './reauthenticate.ts';
import { authenticatorPurpose } from './user-secrets.ts';

export type ProposedAuthenticator = { readonly secret: string; readonly otpauthUrl: string };

/** Time to scan the QR code and type the first code. */
const PROPOSAL_MS = 15 * 60_000;

/**
 * Proposes a secret for an authenticator, and replaces an earlier proposal. The account changes only when `enableMfa`
 * gets the first code.
 * @throws `invalid_password`, `mfa_enabled`, `rate_limited` (`mfa.setup`)
 */
export async function setUpMfa(
  { userId, password }: { readonly userId: string; readonly password: string },
  context: CommandContext,
  dependencies: ReauthenticationDependencies,
): Promise<ProposedAuthenticator> {
  const { protections, totp, authenticators, vault } = dependencies;
  const user = await reauthenticate({ userId, password }, context, dependencies);
  if (user.mfa) throw refusal('mfa_enabled');
  await consumeProtection({ name: 'mfa.setup', subject: userId }, { protections });
  const secret = totp.newSecret();
  await authenticators.propose(
    userId,
    await vault.sealPersonalSecret(userId, authenticatorPurpose(userId), secret),
    new Date(context.now().getTime() + PROPOSAL_MS),
  );
  return { secret, otpauthUrl: totp.otpauthUrl(secret, (await vault.openPersonal(userId, user.email)) ?? userId) };
}
