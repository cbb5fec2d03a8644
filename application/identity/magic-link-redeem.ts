import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import { fitsHost } from '../../domain/identity/magic-link.ts';
import type { MagicLink } from '../ports/magic-links.ts';
import { aloneAndCaughtUp } from './caught-up.ts';
import type { Challenged, SignedIn } from './complete-sign-in.ts';
import { signInOrChallenge } from './complete-sign-in.ts';
import { createUser } from './create-user.ts';
import { IDENTITY } from './dependencies.ts';
import { findUserByEmail } from './find-user.ts';
import type { UserRecord } from './identity-reads.ts';
import type { MagicLinkDependencies, RequestHost } from './magic-link-dependencies.ts';
import { linkDigest, linkPurpose } from './magic-link-dependencies.ts';
import { signInTenant } from './sign-in-tenant.ts';

export type Redemption = RequestHost & { readonly token: string; readonly clientAddress: string };

export type Redeemed = { readonly outcome: SignedIn | Challenged; readonly isNewUser: boolean };

const VISIBLE_MS = 5_000;

/**
 * Signs in by a mailed link, once (spec 1, magic-link sign-in, magic-link token). A link that could not be redeemed stays as it was.
 * @throws `magic_link_attempts_limited`, `tenant_not_found` (no tenant resolved where one must be), `invalid_magic_link`, `authentication_failed`, `tenant_disabled`,
 * `authentication_unavailable` (the challenge of the second factor could not be made)
 */
export async function redeemMagicLink(dependencies: MagicLinkDependencies, { token, host, hostTenant, clientAddress }: Redemption, context: CommandContext): Promise<Redeemed> {
  const { protections, vault, magicLinks, magicLinkOptions, tenants } = dependencies;
  const { allowed, retryAfter } = await protections.take('magic-link.verify-ip', clientAddress);
  if (!allowed) throw refusal('magic_link_attempts_limited', { headers: { 'Retry-After': String(retryAfter) } });
  if (magicLinkOptions.requireResolvedTenant && hostTenant === undefined) throw refusal('tenant_not_found');
  const link = await magicLinks.find(linkDigest(vault, token));
  if (!link || link.expiresAt <= context.now() || !fitsHost(link, { host, hostTenant }) || tenants.state(link.tenant) === undefined) throw refusal('invalid_magic_link');

  const email = vault.openSecret(linkPurpose(link.digest), link.email);
  const known = await findUserByEmail(dependencies, email);
  if (known ? known.disabled || !mayEnter(known, link.tenant) : !magicLinkOptions.autoCreate) throw refusal('authentication_failed');
  const redeemed = known?.mfa ? await challenge(dependencies, link, known, context) : await open(dependencies, link, { known, email }, context);
  await remember(dependencies, link, { ...redeemed, clientAddress }, context);
  return redeemed;
}

type Remembered = Redeemed & { readonly userId: string };

/** The challenge comes first: where it can't be made, nothing has been used up. */
async function challenge(dependencies: MagicLinkDependencies, link: MagicLink, user: UserRecord, context: CommandContext): Promise<Remembered> {
  const outcome = await signInOrChallenge(dependencies, { user, tenant: link.tenant, method: 'magic_link' }, context).catch((error: unknown) => {
    throw isAppError(error) && error.status < 500 ? forLinks(error) : refusal('authentication_unavailable', { cause: error });
  });
  if (!(await dependencies.magicLinks.use(link.digest, context.now()))) throw refusal('invalid_magic_link');
  return { outcome, isNewUser: false, userId: user.id };
}

async function open(dependencies: MagicLinkDependencies, link: MagicLink, { known, email }: { readonly known: UserRecord | undefined; readonly email: string }, context: CommandContext): Promise<Remembered> {
  const { magicLinks } = dependencies;
  if (!(await magicLinks.use(link.digest, context.now()))) throw refusal('invalid_magic_link');
  try {
    const { user, isNewUser } = known ? { user: known, isNewUser: false } : await makeAccount(dependencies, { email, tenant: link.tenant }, context);
    return { outcome: await signInOrChallenge(dependencies, { user, tenant: link.tenant, method: 'magic_link' }, context), isNewUser, userId: user.id };
  } catch (error) {
    // Whoever holds the link may try again; where even this fails the link is lost, and another is mailed for the asking.
    await magicLinks.giveBack(link.digest).catch(() => undefined);
    throw forLinks(error);
  }
}

/** An account that was disabled in this very moment is none that may sign in. */
function forLinks(error: unknown): unknown {
  return hasCode(error, 'invalid_credentials') ? refusal('authentication_failed', { cause: error }) : error;
}

/** Several links of one address may be redeemed at once: one of them makes the account, the others find it. */
function makeAccount(dependencies: MagicLinkDependencies, { email, tenant }: { readonly email: string; readonly tenant: string }, context: CommandContext): Promise<{ readonly user: UserRecord; readonly isNewUser: boolean }> {
  const { vault, magicLinkOptions, progress, reads, tenants } = dependencies;
  if (tenants.state(tenant) === 'disabled') throw refusal('tenant_disabled');
  return aloneAndCaughtUp(dependencies, `magic-link/${vault.digest('sign-in/address', email)}`, async () => {
    const found = await findUserByEmail(dependencies, email);
    if (found) return { user: allowed(found, tenant), isNewUser: false };
    const { id, position } = await createUser(dependencies, { email, password: undefined, roles: magicLinkOptions.autoCreateRoles, tenant }, context);
    const user = position !== undefined && (await progress.waitFor([IDENTITY], position, VISIBLE_MS)) ? await reads.userById(id) : undefined;
    if (!user) throw refusal('not_caught_up', { headers: { 'Retry-After': '1' } });
    return { user, isNewUser: true };
  });
}

/** @throws `authentication_failed` */
function allowed(user: UserRecord, tenant: string): UserRecord {
  if (user.disabled || !mayEnter(user, tenant)) throw refusal('authentication_failed');
  return user;
}

/** Members, and a super admin without any membership where they sign in by password. */
function mayEnter(user: UserRecord, tenant: string): boolean {
  return signInTenant(user, tenant) === tenant || signInTenant(user, undefined) === tenant;
}

/** A sign-in that went well stays one when its history can't be written. */
async function remember({ magicLinks, vault, reportFailure }: MagicLinkDependencies, link: MagicLink, { outcome, isNewUser, userId, clientAddress }: Remembered & { readonly clientAddress: string }, context: CommandContext): Promise<void> {
  try {
    const address = await vault.sealPersonal(userId, clientAddress);
    await magicLinks.record({ id: context.newId(), tenant: link.tenant, userId, outcome: 'challengeToken' in outcome ? 'challenged' : 'signed_in', newUser: isNewUser, at: context.now(), address });
  } catch (error) {
    reportFailure('a sign-in by link is missing in the history', error);
  }
}
