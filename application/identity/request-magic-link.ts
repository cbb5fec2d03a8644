import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { linkTarget, magicLinkUrl } from '../../domain/identity/magic-link.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { Protections } from '../ports/protections.ts';
import { findUserByEmail } from './find-user-by-email.ts';
import {
  type RequestHost,
  type RequestMagicLinkDependencies,
  linkDigest,
  linkPurpose,
} from './magic-link-dependencies.ts';
import { signInTenant } from './sign-in-tenant.ts';

export type RequestMagicLinkInput = RequestHost & {
  /** Normalised. */
  readonly email: string;
  readonly clientNetwork: string;
};

/**
 * Mails a magic link when the address may sign in. For every other address the same work is done and the mail is
 * withheld, so that neither the response nor its time reveals whether the address may sign in.
 * @throws `magic_link_requests_limited` (for known and unknown addresses alike), `magic_link_not_configured`
 */
export async function requestMagicLink(
  { email, host, hostTenant, clientNetwork }: RequestMagicLinkInput,
  context: CommandContext,
  dependencies: RequestMagicLinkDependencies,
): Promise<void> {
  const { protections, consoleUrl, secrets, vault, magicLinks, magicLinkOptions: options, mailer } = dependencies;
  if (consoleUrl === undefined) throw refusal('magic_link_not_configured');
  await spendLinkRequest({ name: 'magic-link.request-ip', subject: clientNetwork }, { protections });
  await spendLinkRequest({ name: 'magic-link.email', subject: email }, { protections });
  const user = await findUserByEmail({ email }, dependencies);
  // An account costs a second query; an address without an account must cost the same.
  if (!user) await dependencies.reads.userById(context.newId());
  const signInTo = tenantOfLink(user, hostTenant, options.autoCreate);
  const sent = signInTo !== undefined && (hostTenant !== undefined || !options.requireResolvedTenant);
  const tenant = signInTo ?? hostTenant ?? DEFAULT_TENANT;
  const token = secrets.refreshToken();
  const digest = linkDigest(token, vault);
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + options.ttlSeconds * 1000);
  const target = linkTarget({ consoleUrl, allowedHosts: options.allowedHosts, host, hostTenant, tenant });
  await magicLinks.issue({
    digest,
    tenant,
    host: target.host,
    email: vault.sealSecret(linkPurpose(digest), email),
    createdAt,
    expiresAt,
  });
  await mailer.send({
    to: email,
    ...mailOf(magicLinkUrl(target.base, token), options.ttlSeconds),
    until: expiresAt,
    withheld: !sent,
  });
}

/** @throws `magic_link_requests_limited` */
async function spendLinkRequest(
  { name, subject }: { readonly name: ProtectionName; readonly subject: string },
  { protections }: { readonly protections: Protections },
): Promise<void> {
  const { allowed, retryAfter } = await protections.take(name, subject);
  if (!allowed) throw refusal('magic_link_requests_limited', { headers: { 'Retry-After': String(retryAfter) } });
}

/**
 * Tenant that the link signs in to: the host's tenant, else the tenant that a sign-in with a password would choose.
 * @returns undefined when the address may not sign in
 */
function tenantOfLink(
  user: UserRecord | undefined,
  hostTenant: string | undefined,
  autoCreate: boolean,
): string | undefined {
  if (user) return user.disabled ? undefined : signInTenant(user, hostTenant);
  return autoCreate ? (hostTenant ?? DEFAULT_TENANT) : undefined;
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
