import { setTimeout as pause } from 'node:timers/promises';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { spendProtection } from '../traffic/spend-protection.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { findUserByEmail } from './find-user.ts';
import { resetDigest } from './user-secrets.ts';

/** A token lives 30 minutes (spec 4 A, password reset). */
const TTL_MINUTES = 30;
/** No answer comes sooner. The work takes a few milliseconds, of which reading an account's row is one: it must not be seen. */
const LEAST_MS = 100;

type ResetRequestDependencies = Pick<IdentityDependencies, 'claims' | 'reads' | 'secrets' | 'vault' | 'protections' | 'passwordResets' | 'mailer' | 'consoleUrl'>;

/**
 * Mails a link to set a new password, where there is an account that may sign in. For every address the same is done and answered, in the same time; over
 * `password-reset.email` nothing is sent (spec 4 A, sign-in details).
 * @throws `rate_limited` (`password-reset.ip`), `password_reset_not_configured`
 */
export async function requestPasswordReset(dependencies: ResetRequestDependencies, { email, clientAddress }: { readonly email: string; readonly clientAddress: string }, context: CommandContext): Promise<void> {
  const { protections, mailer, consoleUrl } = dependencies;
  await spendProtection(protections, 'password-reset.ip', clientAddress);
  if (consoleUrl === undefined || !mailer.configured) throw refusal('password_reset_not_configured');
  await Promise.all([mailToken(dependencies, { email, consoleUrl }, context), pause(LEAST_MS)]);
}

async function mailToken(
  dependencies: Omit<ResetRequestDependencies, 'consoleUrl'>,
  { email: given, consoleUrl }: { readonly email: string; readonly consoleUrl: string },
  context: CommandContext,
): Promise<void> {
  const { secrets, vault, protections, passwordResets, mailer } = dependencies;
  const email = normaliseEmail(given);
  if (email === undefined || !(await protections.take('password-reset.email', email)).allowed) return;
  const user = await findUserByEmail(dependencies, email);
  const reset = user?.disabled === false ? { userId: user.id, passwordMark: user.passwordHash.n } : undefined;
  const token = secrets.refreshToken();
  const until = new Date(context.now().getTime() + TTL_MINUTES * 60_000);
  await passwordResets.add(reset, { digest: resetDigest(vault, token), expiresAt: until });
  await mailer.send({ to: email, subject: 'Set a new password', text: textOf(`${consoleUrl}/auth/password-reset?token=${token}`), until, withheld: reset === undefined });
}

function textOf(link: string): string {
  return `Somebody, probably you, asked for a new password for this address.

Open this link to set one. It works once, for ${TTL_MINUTES} minutes:

${link}

If it was not you, do nothing: your password stays as it is.
`;
}
