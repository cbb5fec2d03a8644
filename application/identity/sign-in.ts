import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { consumeProtection } from '../traffic/consume-limit.ts';
import { withinLockout } from './account-lockout.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { findUserByEmail } from './find-user-by-email.ts';
import { rehashPassword } from './rehash-password.ts';
import type { PasswordSignInDependencies } from './sign-in-dependencies.ts';
import { type Challenged, signInOrChallenge } from './sign-in-or-challenge.ts';
import { signInTenant } from './sign-in-tenant.ts';
import { verifyPassword } from './verify-password.ts';

export type SignIn = {
  readonly email: string;
  readonly password: string;
  readonly tenant?: string | undefined;
  /** IP address of the client, as forwarded by trusted proxies. */
  readonly clientNetwork: string;
};

/**
 * Signs in with a password. Every attempt counts towards the protection `login.ip`. An unknown address, a wrong
 * password, a disabled account, a tenant without a membership and a locked account all get the same response after one
 * hash comparison, and all count towards the account lockout.
 * @throws `rate_limited`, `invalid_credentials`, `tenant_disabled`
 */
export async function signIn(
  { email: address, password, tenant: requested, clientNetwork }: SignIn,
  context: CommandContext,
  dependencies: PasswordSignInDependencies,
): Promise<SignedIn | Challenged> {
  await consumeProtection({ name: 'login.ip', subject: clientNetwork }, dependencies);
  const email = normaliseEmail(address);
  const user = await findUserByEmail({ email: email ?? '' }, dependencies);
  const tenant = user && signInTenant(user, requested);
  const account = user ? { userId: user.id } : { address: email ?? '' };
  const verify = async (): Promise<boolean> =>
    (await verifyPassword({ user, password }, dependencies)) && tenant !== undefined && user?.disabled === false;
  if (!(await withinLockout({ account, verify }, context, dependencies)) || !user || tenant === undefined)
    throw refusal('invalid_credentials');
  const outcome = await signInOrChallenge({ user, tenant, method: 'password' }, context, dependencies);
  const position = await rehashPassword({ user, password }, context, dependencies);
  return position === undefined ? outcome : { ...outcome, position };
}
