import type { MagicLinks } from '../ports/magic-links.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { Protections } from '../ports/protections.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { Vault } from '../ports/vault.ts';
import type { CreateUserDependencies, FindAccountDependencies, LockoutDependencies } from './account-dependencies.ts';
import type { MagicLinkOptions } from './magic-link-options.ts';
import type { ExclusiveDependencies } from './run-exclusively.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';

/** The host of a request, in lower case without a port, and the tenant that the host resolves to. */
export type RequestHost = { readonly host: string; readonly hostTenant: string | undefined };

/** Mails magic links. */
export type RequestMagicLinkDependencies = FindAccountDependencies & {
  readonly magicLinks: MagicLinks;
  readonly magicLinkOptions: MagicLinkOptions;
  readonly protections: Protections;
  readonly secrets: RandomSecrets;
  readonly vault: Vault;
  readonly mailer: Mailer;
  /** `SVC_CONSOLE_URL` without a trailing slash; undefined when it is not set. */
  readonly consoleUrl: string | undefined;
};

/** Redeems magic links; creates accounts where the settings allow it. */
export type RedeemMagicLinkDependencies = SignInDependencies &
  FindAccountDependencies &
  CreateUserDependencies &
  ExclusiveDependencies &
  Pick<LockoutDependencies, 'reportFailure'> &
  Pick<RequestMagicLinkDependencies, 'magicLinks' | 'magicLinkOptions' | 'protections'>;

/** Digest under which a link's token is stored. */
export function linkDigest(token: string, vault: Pick<Vault, 'digest'>): string {
  return vault.digest('sign-in/magic-link', token);
}

/** Purpose that a link's sealed address is bound to. */
export function linkPurpose(digest: string): string {
  return `magic-link/${digest}`;
}

/** Names the missing setting that keeps magic links from being mailed. @returns undefined when nothing is missing */
export function missingMagicLinkSetting({
  consoleUrl,
  mailer,
}: Pick<RequestMagicLinkDependencies, 'consoleUrl' | 'mailer'>): string | undefined {
  if (consoleUrl === undefined) return 'SVC_CONSOLE_URL is unset';
  return mailer.configured ? undefined : 'SMTP_HOST is unset';
}
