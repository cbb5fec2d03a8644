import { HOME_TENANT } from './memberships.ts';
import { hasAdminRole } from './roles.ts';

/** Where a link leads: an address of the console, and the host that it is bound to; null: the console's own. */
export type LinkPlace = { readonly base: string; readonly host: string | null };

const LEAST_SECONDS = 30;
const MOST_SECONDS = 3_600;

/** `MAGIC_LINK_TTL_SECONDS`, held between half a minute and an hour. */
export function linkLifetime(seconds: number): number {
  return Math.min(Math.max(seconds, LEAST_SECONDS), MOST_SECONDS);
}

/** Roles of accounts that a link makes: a list that names admin or super_admin is dropped as a whole (spec 1, magic-link sign-in 4). */
export function autoCreateRoles(listed: readonly string[]): readonly string[] {
  return hasAdminRole(listed) ? [] : listed;
}

/**
 * Where the link is built: on the host of the request where that is listed and stands for the link's tenant, else on the console URL
 * (`MAGIC_LINK_ALLOWED_HOSTS`). Of the host only the list's own entry goes into the link, its port included.
 */
export function linkPlace({ consoleUrl, allowedHosts, host, hostTenant, tenant }: {
  readonly consoleUrl: string;
  /** Host names, with a port or without. */
  readonly allowedHosts: readonly string[];
  /** Lower case, without a port. */
  readonly host: string;
  /** Tenant that the host resolves. */
  readonly hostTenant: string | undefined;
  readonly tenant: string;
}): LinkPlace {
  const entry = allowedHosts.find((allowed) => nameOf(allowed) === host);
  if (entry === undefined || host === '' || (hostTenant ?? HOME_TENANT) !== tenant) return { base: consoleUrl, host: null };
  return { base: consoleUrl.replace(/^(https?:\/\/)[^/]*/i, (_all, scheme: string) => `${scheme}${entry}`), host };
}

/** The mailed link; the console redeems the token when the person submits the page. */
export function magicLink(base: string, token: string): string {
  return `${base}/auth/magic-link/verify?token=${token}`;
}

/** Whether a link may be redeemed through this host: one built on a host only there, one on the console URL through any that resolves no other tenant. */
export function fitsHost(link: { readonly host: string | null; readonly tenant: string }, { host, hostTenant }: { readonly host: string; readonly hostTenant: string | undefined }): boolean {
  if (link.host !== null) return link.host === host && (hostTenant ?? HOME_TENANT) === link.tenant;
  return hostTenant === undefined || hostTenant === link.tenant;
}

function nameOf(entry: string): string {
  return entry.replace(/:\d+$/, '').toLowerCase();
}
