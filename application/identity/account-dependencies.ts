import type { PasswordPolicy } from '../../domain/identity/password-policy.ts';
import type { Claims } from '../ports/claims.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { PasswordResets } from '../ports/password-resets.ts';
import type { Passwords } from '../ports/passwords.ts';
import type { Protections } from '../ports/protections.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { RateCounters } from '../ports/rate-counters.ts';
import type { TotpAuthenticators } from '../ports/totp-authenticators.ts';
import type { Totp } from '../ports/totp.ts';
import type { Vault } from '../ports/vault.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { ExclusiveDependencies } from './run-exclusively.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Finds the account of an e-mail address. */
export type FindAccountDependencies = { readonly claims: Pick<Claims, 'ownerOf'>; readonly reads: IdentityReads };

/** Hashes and checks passwords. */
export type PasswordDependencies = {
  readonly passwords: Passwords;
  readonly passwordPolicy: PasswordPolicy;
  /** Seals the hashes. */
  readonly vault: Vault;
};

/** Creates accounts. */
export type CreateUserDependencies = IdentityWriteDependencies &
  PasswordDependencies & {
    readonly claims: Claims;
    readonly secrets: RandomSecrets;
    readonly tenants: Pick<TenantDirectory, 'state'>;
  };

/** Changes a user where the number of super admins matters. */
export type ChangeUserDependencies = IdentityWriteDependencies &
  ExclusiveDependencies & { readonly reads: IdentityReads };

/** Counts failed sign-ins and codes of one account. */
export type LockoutDependencies = IdentityWriteDependencies & {
  readonly rateCounters: Pick<RateCounters, 'take' | 'refund' | 'clear'>;
  /** Reports a failure that does not change the response to the caller. */
  readonly reportFailure: (what: string, error: unknown) => void;
};

/** Checks codes of the second factor. */
export type MfaDependencies = LockoutDependencies & {
  readonly protections: Protections;
  readonly authenticators: TotpAuthenticators;
  readonly totp: Totp;
  readonly vault: Vault;
};

/** Asks a signed-in user for the password or a code again. */
export type ReauthenticationDependencies = MfaDependencies & {
  readonly reads: IdentityReads;
  readonly passwords: Passwords;
};

/** Sets a password without the current one. */
export type SetPasswordDependencies = IdentityWriteDependencies &
  PasswordDependencies &
  Pick<LockoutDependencies, 'rateCounters'> & { readonly reads: IdentityReads };

/** Mails tokens that set a new password. */
export type RequestPasswordResetDependencies = FindAccountDependencies & {
  readonly secrets: RandomSecrets;
  readonly vault: Vault;
  readonly protections: Protections;
  readonly passwordResets: PasswordResets;
  readonly mailer: Mailer;
  /** `SVC_CONSOLE_URL` without a trailing slash; undefined when it is not set, then mails cannot contain links. */
  readonly consoleUrl: string | undefined;
};
