import type { ApiKeyRequests } from '../ports/api-key-requests.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { ExclusiveDependencies } from './run-exclusively.ts';

/** Creates the secrets of API keys and admin tokens. */
export type CredentialSecretDependencies = {
  readonly secrets: RandomSecrets;
  /** HMAC of a raw API key or admin token under the pepper, in hex. */
  readonly hashCredential: (rawKey: string) => string;
};

/** Creates API keys within the limits of the license. */
export type CreateApiKeyDependencies = IdentityWriteDependencies &
  ExclusiveDependencies &
  CredentialSecretDependencies & { readonly reads: IdentityReads; readonly entitlements: Entitlements };

/** Changes the monthly limit of an API key. */
export type SetMonthlyLimitDependencies = IdentityWriteDependencies & { readonly entitlements: Entitlements };

/** Deletes an API key with its request history. */
export type DeleteApiKeyDependencies = IdentityWriteDependencies & { readonly apiKeyRequests: ApiKeyRequests };

/** Issues the secrets of admin tokens to a user who reauthenticates. */
export type AdminTokenDependencies = ReauthenticationDependencies & CredentialSecretDependencies;
