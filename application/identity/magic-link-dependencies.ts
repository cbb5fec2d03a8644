import type { Vault } from '../ports/vault.ts';
import type { IdentityDependencies } from './dependencies.ts';

/** The `MAGIC_LINK_*` settings as they hold. */
export type MagicLinkOptions = {
  /** Between 30 and 3600. */
  readonly ttlSeconds: number;
  readonly autoCreate: boolean;
  /** Without admin and super_admin. */
  readonly autoCreateRoles: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly requireResolvedTenant: boolean;
};

/** Where a request came in: its host in lower case without a port, and the tenant that the host resolves. */
export type RequestHost = { readonly host: string; readonly hostTenant: string | undefined };

export type MagicLinkDependencies = Pick<
  IdentityDependencies,
  | 'eventStore' | 'changes' | 'claims' | 'reads' | 'sessions' | 'tokens' | 'passwords' | 'secrets' | 'vault' | 'exclusive' | 'progress' | 'refreshTtlSeconds' | 'tenants' | 'challenges'
  | 'passwordPolicy' | 'protections' | 'reportFailure' | 'mailer' | 'consoleUrl' | 'magicLinks' | 'magicLinkOptions'
>;

/** Digest that a link's token is kept under. */
export function linkDigest(vault: Pick<Vault, 'digest'>, token: string): string {
  return vault.digest('sign-in/magic-link', token);
}

/** What a link's sealed address is bound to. */
export function linkPurpose(digest: string): string {
  return `magic-link/${digest}`;
}

/** What is missing for links to be made and mailed at all (spec 1, magic-link sign-in 5 and 6); undefined: nothing. */
export function magicLinkLacks({ consoleUrl, mailer }: Pick<IdentityDependencies, 'consoleUrl' | 'mailer'>): string | undefined {
  if (consoleUrl === undefined) return 'SVC_CONSOLE_URL is unset';
  return mailer.configured ? undefined : 'SMTP_HOST is unset';
}
