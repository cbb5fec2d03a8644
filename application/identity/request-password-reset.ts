import { setTimeout as pause } from 'node:timers/promises';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { consumeProtection } from '../traffic/consume-limit.ts';
import type { RequestPasswordResetDependencies } from './account-dependencies.ts';
import { findUserByEmail } from './find-user-by-email.ts';
import { resetDigest } from './user-secrets.ts';

const TTL_MINUTES = 30;
/**
 * Shortest response time. The work takes a few milliseconds, and reading an account's row is a measurable part of it;
 * the pause hides whether the account exists.
 */
const MIN_RESPONSE_MS = 100;

/**
 * Mails a link that sets a new password when the address has an account that may sign in. Every address gets the same
 * answer in the same time. Above the limit of `password-reset.email` no mail is sent.
 * @throws `rate_limited` (`password-reset.ip`), `password_reset_not_configured`
 */
export async function requestPasswordReset(
  { email, clientNetwork }: { readonly email: string; readonly clientNetwork: string },
  context: CommandContext,
  dependencies: RequestPasswordResetDependencies,
): Promise<void> {
  const { protections, mailer, consoleUrl } = dependencies;
  await consumeProtection({ name: 'password-reset.ip', subject: clientNetwork }, { protections });
  if (consoleUrl === undefined || !mailer.configured) throw refusal('password_reset_not_configured');
  await Promise.all([mailToken({ email, consoleUrl }, context, dependencies), pause(MIN_RESPONSE_MS)]);
}

async function mailToken(
  { email: address, consoleUrl }: { readonly email: string; readonly consoleUrl: string },
  context: CommandContext,
  dependencies: Omit<RequestPasswordResetDependencies, 'consoleUrl'>,
): Promise<void> {
  const { secrets, vault, protections, passwordResets, mailer } = dependencies;
  const email = normaliseEmail(address);
  if (email === undefined || !(await protections.take('password-reset.email', email)).allowed) return;
  const user = await findUserByEmail({ email }, dependencies);
  const reset = user?.disabled === false ? { userId: user.id, passwordMark: user.passwordHash.n } : undefined;
  const token = secrets.refreshToken();
  const until = new Date(context.now().getTime() + TTL_MINUTES * 60_000);
  await passwordResets.add(reset, { digest: resetDigest({ token }, { vault }), expiresAt: until });
  await mailer.send({
    to: email,
    subject: 'Set a new password',
    text: textOf(`${consoleUrl}/auth/password-reset?token=${token}`),
    until,
    withheld: reset === undefined,
  });
}

function textOf(link: string): string {
  return `Somebody, probably you, asked for a new password for this address.

Open this link to set one. It works once, for ${TTL_MINUTES} minutes:

${link}

If it was not you, do nothing: your password stays as it is.
`;
}
