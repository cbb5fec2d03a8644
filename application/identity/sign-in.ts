import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import type { Challenged, SignInDependencies, SignedIn } from './complete-sign-in.ts';
import { signInOrChallenge } from './complete-sign-in.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { findUserByEmail } from './find-user.ts';
import { withinLockout } from './lockout.ts';
import { rehashPassword } from './rehash-password.ts';
import { signInTenant } from './sign-in-tenant.ts';
import { spendProtection } from '../traffic/spend-protection.ts';
import { verifyPassword } from './verify-password.ts';

export type SignIn = {
  readonly email: string;
  readonly password: string;
  readonly tenant?: string | undefined;
  /** The client's, after trusted proxies. */
  readonly clientAddress: string;
};

export type PasswordSignInDependencies = SignInDependencies & Pick<IdentityDependencies, 'claims' | 'reads' | 'passwords' | 'passwordPolicy' | 'protections' | 'rateCounters' | 'reportFailure'>;

/**
 * Signs in by password (spec 1, sign-in; spec 4 A). Every attempt counts towards `login.ip`. Unknown address, wrong password, disabled account, a
 * tenant without a membership and an account that is blocked are one answer after one hash comparison; all of them count towards the lockout.
 * @throws `rate_limited`, `invalid_credentials`, `tenant_disabled`
 */
export async function signIn(dependencies: PasswordSignInDependencies, { email: given, password, tenant: asked, clientAddress }: SignIn, context: CommandContext): Promise<SignedIn | Challenged> {
  await spendProtection(dependencies.protections, 'login.ip', clientAddress);
  const email = normaliseEmail(given);
  const user = await findUserByEmail(dependencies, email ?? '');
  const tenant = user && signInTenant(user, asked);
  const account = user ? { userId: user.id } : { address: email ?? '' };
  const prove = async (): Promise<boolean> => (await verifyPassword(dependencies, user, password)) && tenant !== undefined && user?.disabled === false;
  if (!(await withinLockout(dependencies, account, prove, context)) || !user || tenant === undefined) throw refusal('invalid_credentials');
  const outcome = await signInOrChallenge(dependencies, { user, tenant, method: 'password' }, context);
  const position = await rehashPassword(dependencies, { user, password }, context);
  return position === undefined ? outcome : { ...outcome, position };
}
