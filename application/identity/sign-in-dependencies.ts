import type { Protections } from '../ports/protections.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { SessionTokens } from '../ports/session-tokens.ts';
import type { Sessions } from '../ports/sessions.ts';
import type { SignInChallenges } from '../ports/sign-in-challenges.ts';
import type { Vault } from '../ports/vault.ts';
import type { FindAccountDependencies, LockoutDependencies, PasswordDependencies } from './account-dependencies.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Opens sessions and renews their tokens. */
export type SessionDependencies = {
  readonly sessions: Sessions;
  readonly tokens: SessionTokens;
  readonly secrets: RandomSecrets;
  readonly vault: Vault;
  /** Lifetime of refresh tokens in seconds (`REFRESH_TOKEN_TTL_SECS`). */
  readonly refreshTtlSeconds: number;
  readonly tenants: Pick<TenantDirectory, 'state'>;
};

/** Completes a sign-in after the required factors. */
export type CompleteSignInDependencies = IdentityWriteDependencies & SessionDependencies;

/** Continues a sign-in after the first factor, with a challenge where the account has a second one. */
export type SignInDependencies = CompleteSignInDependencies & { readonly challenges: SignInChallenges };

/** Signs in with a password. */
export type PasswordSignInDependencies = SignInDependencies &
  FindAccountDependencies &
  LockoutDependencies &
  PasswordDependencies & { readonly protections: Protections };
