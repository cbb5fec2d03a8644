import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import { isRedeemableOn } from '../../domain/identity/magic-link.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { MagicLink } from '../ports/magic-links.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import type { SignedIn } from './complete-sign-in.ts';
import { createUser } from './create-user.ts';
import { findUserByEmail } from './find-user-by-email.ts';
import { IDENTITY } from './identity-read-model.ts';
import {
  type RedeemMagicLinkDependencies,
  type RequestHost,
  linkDigest,
  linkPurpose,
} from './magic-link-dependencies.ts';
import { runExclusively } from './run-exclusively.ts';
import { type Challenged, signInOrChallenge } from './sign-in-or-challenge.ts';
import { signInTenant } from './sign-in-tenant.ts';

export type Redemption = RequestHost & {
  readonly token: string;
  /** Recorded, sealed. */
  readonly clientAddress: string;
  /** Counted by the limit. */
  readonly clientNetwork: string;
};

export type Redeemed = { readonly outcome: SignedIn | Challenged; readonly isNewUser: boolean };

type RedeemedBy = Redeemed & { readonly userId: string };

/**
 * Signs in with a magic link. A link works once. A link whose redemption fails stays valid.
 * @throws `magic_link_attempts_limited`, `tenant_not_found` (the settings require a host that resolves to a tenant),
 *   `invalid_magic_link`, `authentication_failed`, `tenant_disabled`, `authentication_unavailable` (the challenge of
 *   the second factor could not be opened), `not_caught_up`
 */
export async function redeemMagicLink(
  { token, host, hostTenant, clientAddress, clientNetwork }: Redemption,
  context: CommandContext,
  dependencies: RedeemMagicLinkDependencies,
): Promise<Redeemed> {
  const { protections, vault, magicLinks, magicLinkOptions, tenants } = dependencies;
  const { allowed, retryAfter } = await protections.take('magic-link.verify-ip', clientNetwork);
  if (!allowed) throw refusal('magic_link_attempts_limited', { headers: { 'Retry-After': String(retryAfter) } });
  if (magicLinkOptions.requireResolvedTenant && hostTenant === undefined) throw refusal('tenant_not_found');
  const link = await magicLinks.find(linkDigest(token, vault));
  if (
    !link ||
    link.expiresAt <= context.now() ||
    !isRedeemableOn(link, { host, hostTenant }) ||
    tenants.state(link.tenant) === undefined
  )
    throw refusal('invalid_magic_link');

  const email = vault.openSecret(linkPurpose(link.digest), link.email);
  const user = await findUserByEmail({ email }, dependencies);
  if (user ? user.disabled || !maySignInTo(user, link.tenant) : !magicLinkOptions.autoCreate)
    throw refusal('authentication_failed');
  const redeemed = user?.mfa
    ? await issueChallenge({ link, user }, context, dependencies)
    : await signInWithLink({ link, earlierUser: user, email }, context, dependencies);
  await recordRedemption({ link, redeemed, clientAddress }, context, dependencies);
  return redeemed;
}

/** Opens the challenge before the link is used up, so that a failure leaves the link valid. */
async function issueChallenge(
  { link, user }: { readonly link: MagicLink; readonly user: UserRecord },
  context: CommandContext,
  dependencies: RedeemMagicLinkDependencies,
): Promise<RedeemedBy> {
  const outcome = await signInOrChallenge(
    { user, tenant: link.tenant, method: 'magic_link' },
    context,
    dependencies,
  ).catch((error: unknown) => {
    throw isAppError(error) && error.status < 500
      ? asLinkRefusal(error)
      : refusal('authentication_unavailable', { cause: error });
  });
  if (!(await dependencies.magicLinks.use(link.digest, context.now()))) throw refusal('invalid_magic_link');
  return { outcome, isNewUser: false, userId: user.id };
}

async function signInWithLink(
  {
    link,
    earlierUser,
    email,
  }: { readonly link: MagicLink; readonly earlierUser: UserRecord | undefined; readonly email: string },
  context: CommandContext,
  dependencies: RedeemMagicLinkDependencies,
): Promise<RedeemedBy> {
  const { magicLinks } = dependencies;
  if (!(await magicLinks.use(link.digest, context.now()))) throw refusal('invalid_magic_link');
  try {
    const { user, isNewUser } = earlierUser
      ? { user: earlierUser, isNewUser: false }
      : await findOrCreateAccount({ email, tenant: link.tenant }, context, dependencies);
    return {
      outcome: await signInOrChallenge({ user, tenant: link.tenant, method: 'magic_link' }, context, dependencies),
      isNewUser,
      userId: user.id,
    };
  } catch (error) {
    // If this fails too, the link stays used up and the user must request another one.
    await magicLinks.markUnused(link.digest).catch(() => undefined);
    throw asLinkRefusal(error);
  }
}

/** An account that was disabled after it was read gets the same refusal as a disabled account. */
function asLinkRefusal(error: unknown): unknown {
  return hasCode(error, 'invalid_credentials') ? refusal('authentication_failed', { cause: error }) : error;
}

/** Several links of one address may be redeemed at once: one redemption creates the account, the others find it. */
function findOrCreateAccount(
  { email, tenant }: { readonly email: string; readonly tenant: string },
  context: CommandContext,
  dependencies: RedeemMagicLinkDependencies,
): Promise<{ readonly user: UserRecord; readonly isNewUser: boolean }> {
  const { vault, magicLinkOptions, progress, reads, tenants } = dependencies;
  if (tenants.state(tenant) === 'disabled') throw refusal('tenant_disabled');
  return runExclusively(
    {
      name: `magic-link/${vault.digest('sign-in/address', email)}`,
      async work() {
        const found = await findUserByEmail({ email }, dependencies);
        if (found) return { user: refuseClosedAccount(found, tenant), isNewUser: false };
        const { id, position } = await createUser(
          { email, password: undefined, roles: magicLinkOptions.autoCreateRoles, tenant },
          context,
          dependencies,
        );
        const user =
          position !== undefined && (await waitForReadModel({ name: IDENTITY, position }, { progress }))
            ? await reads.userById(id)
            : undefined;
        if (!user) throw refusal('not_caught_up', { headers: { 'Retry-After': '1' } });
        return { user, isNewUser: true };
      },
    },
    dependencies,
  );
}

/** @throws `authentication_failed` */
function refuseClosedAccount(user: UserRecord, tenant: string): UserRecord {
  if (user.disabled || !maySignInTo(user, tenant)) throw refusal('authentication_failed');
  return user;
}

/** True for members, and for a super admin without memberships in the tenant of their sign-in with a password. */
function maySignInTo(user: UserRecord, tenant: string): boolean {
  return signInTenant(user, tenant) === tenant || signInTenant(user, undefined) === tenant;
}

/** Adds the redemption to the tenant's list. A failure is reported and does not fail the sign-in. */
async function recordRedemption(
  {
    link,
    redeemed: { outcome, isNewUser, userId },
    clientAddress,
  }: { readonly link: MagicLink; readonly redeemed: RedeemedBy; readonly clientAddress: string },
  context: CommandContext,
  { magicLinks, vault, reportFailure }: RedeemMagicLinkDependencies,
): Promise<void> {
  try {
    const address = await vault.sealPersonal(userId, clientAddress);
    await magicLinks.record({
      id: context.newId(),
      tenant: link.tenant,
      userId,
      outcome: 'challengeToken' in outcome ? 'challenged' : 'signed_in',
      newUser: isNewUser,
      at: context.now(),
      address,
    });
  } catch (error) {
    reportFailure('a sign-in with a magic link could not be recorded', error);
  }
}
