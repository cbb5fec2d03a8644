import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { linkPlace, magicLink } from '../../domain/identity/magic-link.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { Protections } from '../ports/protections.ts';
import { findUserByEmail } from './find-user.ts';
import type { UserRecord } from './identity-reads.ts';
import type { MagicLinkDependencies, RequestHost } from './magic-link-dependencies.ts';
import { linkDigest, linkPurpose } from './magic-link-dependencies.ts';
import { signInTenant } from './sign-in-tenant.ts';

export type MagicLinkRequest = RequestHost & {
  /** Normalised. */
  readonly email: string;
  readonly clientAddress: string;
};

/**
 * Mails a link to sign in by, where the address may sign in (spec 1, magic-link sign-in). For every other address the same work is done, to the
 * row of a link that nobody gets, so that neither the answer nor its time tells one from the other.
 * @throws `magic_link_requests_limited` (for known and unknown addresses alike), `magic_link_not_configured`
 */
export async function requestMagicLink(dependencies: MagicLinkDependencies, { email, host, hostTenant, clientAddress }: MagicLinkRequest, context: CommandContext): Promise<void> {
  const { protections, consoleUrl, secrets, vault, magicLinks, magicLinkOptions: options, mailer } = dependencies;
  if (consoleUrl === undefined) throw refusal('magic_link_not_configured');
  await spendRequest(protections, 'magic-link.request-ip', clientAddress);
  await spendRequest(protections, 'magic-link.email', email);
  const user = await findUserByEmail(dependencies, email);
  // The account of an address costs a look of its own.
  if (!user) await dependencies.reads.userById(context.newId());
  const entered = enteredTenant(user, hostTenant, options.autoCreate);
  const wanted = entered !== undefined && (hostTenant !== undefined || !options.requireResolvedTenant);
  const tenant = entered ?? hostTenant ?? HOME_TENANT;
  const token = secrets.refreshToken();
  const digest = linkDigest(vault, token);
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + options.ttlSeconds * 1000);
  const place = linkPlace({ consoleUrl, allowedHosts: options.allowedHosts, host, hostTenant, tenant });
  await magicLinks.issue({ digest, tenant, host: place.host, email: vault.sealSecret(linkPurpose(digest), email), createdAt, expiresAt });
  await mailer.send({ to: email, ...mailOf(magicLink(place.base, token), options.ttlSeconds), until: expiresAt, withheld: !wanted });
}

/** @throws `magic_link_requests_limited` */
async function spendRequest(protections: Protections, name: ProtectionName, subject: string): Promise<void> {
  const { allowed, retryAfter } = await protections.take(name, subject);
  if (!allowed) throw refusal('magic_link_requests_limited', { headers: { 'Retry-After': String(retryAfter) } });
}

/** Tenant that the link signs into: the host's, else the one that a sign-in by password would choose. @returns undefined for who may not sign in */
function enteredTenant(user: UserRecord | undefined, hostTenant: string | undefined, autoCreate: boolean): string | undefined {
  if (user) return user.disabled ? undefined : signInTenant(user, hostTenant);
  return autoCreate ? (hostTenant ?? HOME_TENANT) : undefined;
}

function mailOf(link: string, ttlSeconds: number): { readonly subject: string; readonly text: string } {
  const lifetime = ttlSeconds >= 120 ? `${Math.floor(ttlSeconds / 60)} minutes` : `${ttlSeconds} seconds`;
  return {
    subject: 'Your link to sign in',
    text: `Somebody, probably you, asked for a link to sign in with this address.

Open it and confirm. It works once, for ${lifetime}:

${link}

If it was not you, do nothing: nobody is signed in until the link is confirmed.
`,
  };
}
