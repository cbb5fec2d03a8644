import { DEFAULT_TENANT } from './memberships.ts';
import { hasAdminRole } from './roles.ts';

/** The base URL of a magic link, and the host that the link is bound to; null for links on the console URL. */
export type LinkTarget = { readonly base: string; readonly host: string | null };

const MIN_SECONDS = 30;
const MAX_SECONDS = 3_600;

/** Clamps `MAGIC_LINK_TTL_SECONDS` to 30 to 3600 seconds. */
export function linkLifetime(seconds: number): number {
  return Math.min(Math.max(seconds, MIN_SECONDS), MAX_SECONDS);
}

/**
 * Roles of the accounts that magic links create: a list that contains `admin` or `super_admin` is ignored as a whole.
 */
export function autoCreateRoles(listed: readonly string[]): readonly string[] {
  return hasAdminRole(listed) ? [] : listed;
}

/**
 * Chooses the base URL of a link: the host of the request when `MAGIC_LINK_ALLOWED_HOSTS` lists it and it resolves to
 * the link's tenant, else the console URL. The link contains the host as the list spells it, with its port, never as
 * the request spells it.
 */
export function linkTarget({
  consoleUrl,
  allowedHosts,
  host,
  hostTenant,
  tenant,
}: {
  readonly consoleUrl: string;
  /** Host names, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Host of the request in lower case, without a port. */
  readonly host: string;
  /** Tenant that the host resolves to. */
  readonly hostTenant: string | undefined;
  readonly tenant: string;
}): LinkTarget {
  const entry = allowedHosts.find((allowed) => nameOf(allowed) === host);
  if (entry === undefined || host === '' || (hostTenant ?? DEFAULT_TENANT) !== tenant)
    return { base: consoleUrl, host: null };
  return { base: consoleUrl.replace(/^(https?:\/\/)[^/]*/i, (_all, scheme: string) => `${scheme}${entry}`), host };
}

/** The mailed link. The console redeems its token when the user confirms the page. */
export function magicLinkUrl(base: string, token: string): string {
  return `${base}/auth/magic-link/verify?token=${token}`;
}

/**
 * Whether a link may be redeemed on this host. A link that is bound to a host works only there; any other link works on
 * every host that does not resolve to another tenant.
 */
export function isRedeemableOn(
  link: { readonly host: string | null; readonly tenant: string },
  { host, hostTenant }: { readonly host: string; readonly hostTenant: string | undefined },
): boolean {
  if (link.host !== null) return link.host === host && (hostTenant ?? DEFAULT_TENANT) === link.tenant;
  return hostTenant === undefined || hostTenant === link.tenant;
}

function nameOf(entry: string): string {
  return entry.replace(/:\d+$/, '').toLowerCase();
}
