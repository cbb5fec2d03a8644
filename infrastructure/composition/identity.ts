import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Claims } from '../../application/ports/claims.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Authenticator } from '../../application/identity/authenticate.ts';
import { createAuthenticator } from '../../application/identity/authenticate.ts';
import type { IdentityDependencies } from '../../application/identity/dependencies.ts';
import { createTenantDirectory } from '../../application/identity/tenant-directory.ts';
import { foundHomeTenant } from '../../application/identity/tenants.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import { createIdentityQueries } from '../../projections/identity/queries.ts';
import { consoleUrlOf } from '../configuration/console-url.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { equalSecrets } from '../crypto/equal-secrets.ts';
import { createKeyHasher } from '../crypto/key-hasher.ts';
import { createCommonPasswords } from '../crypto/common-passwords.ts';
import { BCRYPT_BYTES, createPasswords } from '../crypto/passwords.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import type { ApiKeyRequestLog } from '../identity/api-key-requests.ts';
import { createApiKeyRequests } from '../identity/api-key-requests.ts';
import { createCredentialCache } from '../identity/credential-cache.ts';
import { createExclusive } from '../identity/exclusive.ts';
import { watchIdentityChanges } from '../identity/identity-changes.ts';
import { createSessionStore } from '../identity/session-store.ts';
import { openSigning } from './signing.ts';
import { openTrustedIssuers } from './trusted-issuers.ts';
import type { SignInGuards } from './sign-in-guards.ts';
import { composeSignInLinks, magicLinkOptionsOf } from './sign-in-links.ts';
import type { Stores } from './stores.ts';

export type IdentityOptions = {
  readonly stores: Stores;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly progress: ProjectionProgress;
  readonly vault: Vault;
  readonly claims: Claims;
  readonly entitlements: Entitlements;
  readonly mailer: Mailer;
  readonly guards: SignInGuards;
  readonly setupToken: string;
  readonly now: () => Date;
  readonly newId: () => string;
};

export type Identity = {
  readonly dependencies: IdentityDependencies;
  readonly authenticator: Authenticator;
  readonly requests: ApiKeyRequestLog;
  /** Whether any account exists. */
  anyUser(): Promise<boolean>;
  /** Removes sessions, challenges, reset tokens and sign-ins of devices that are over. */
  purge(): Promise<number>;
  close(): Promise<void>;
};

/** Puts identity together. */
export async function composeIdentity(options: IdentityOptions): Promise<Identity> {
  const { stores, settings, logger, progress, vault, claims, entitlements, mailer, guards, setupToken, now, newId } = options;
  const { database, eventStore } = stores;
  const reads = createIdentityQueries(database);
  const sessions = createSessionStore({ database });
  const requests = createApiKeyRequests({ database, vault, logger, newId, now });
  const passwords = createPasswords({ algorithm: settings.passwordHashAlgorithm });
  const changes = watchIdentityChanges({ lastChange: () => reads.lastChange(), progress });
  const tenants = createTenantDirectory({
    reads, progress, changes,
    onError: (error) => {
      logger.warn('tenants and access rules could not be read anew, those known stay in force', { reason: String(error) });
    },
  });
  await tenants.start();
  const signing = await openSigning({ settings, logger, now });
  const { tokens } = signing;
  const hashApiKey = createKeyHasher(settings.apiKeyPepper ?? '');
  const hashUnderFormer = settings.apiKeyPepperPrevious === undefined ? undefined : createKeyHasher(settings.apiKeyPepperPrevious);
  const links = composeSignInLinks({ database, magicLinkOptions: magicLinkOptionsOf(settings) });
  const dependencies: IdentityDependencies = {
    ...guards,
    ...links,
    eventStore, claims, reads, sessions, tokens, passwords, vault, progress, changes, tenants, entitlements, mailer, hashApiKey,
    consoleUrl: consoleUrlOf(settings),
    secrets: randomSecrets,
    exclusive: createExclusive({ database }),
    passwordPolicy: {
      minLength: settings.passwordMinLength,
      requireComplexity: settings.passwordRequireComplexity,
      ...(settings.passwordHashAlgorithm === 'bcrypt' ? { maxBytes: BCRYPT_BYTES } : {}),
      ...(settings.passwordCheckCommon ? { isCommon: createCommonPasswords() } : {}),
    },
    refreshTtlSeconds: settings.refreshTokenTtlSeconds,
    apiKeyRequests: requests,
    isSetupToken: (presented) => equalSecrets(presented, setupToken),
  };
  const outside = openTrustedIssuers({ settings, vault, logger, now });
  const authenticator = createAuthenticator({ reads, sessions, tokens, vault, hashApiKey, formerHashes: hashUnderFormer && ((raw) => [hashUnderFormer(raw)]), changes, now, newCache: createCredentialCache, trustedIssuers: outside?.issuers });
  if (await reads.anyUser()) await mendHomeTenant();
  return {
    dependencies,
    authenticator,
    requests,
    anyUser: () => reads.anyUser(),
    purge: async () => {
      const purged = await Promise.all([sessions, guards.challenges, guards.passwordResets, links.deviceSignIns].map((store) => store.purge(now())));
      return purged.reduce((sum, count) => sum + count, 0);
    },
    async close() {
      tenants.close();
      changes.close();
      signing.close();
      authenticator.close();
      await outside?.close();
      await requests.close();
      await passwords.close();
    },
  };

  /** Installs from before tenants could be managed have accounts and no tenant on record. */
  async function mendHomeTenant(): Promise<void> {
    const id = newId();
    await foundHomeTenant(dependencies, { tenant: HOME_TENANT, actor: { kind: 'system', id: 'start' }, correlationId: id, causationId: id, now, newId }).catch((error: unknown) => {
      logger.warn('whether the tenant default is on record could not be looked up', { reason: String(error) });
    });
  }
}
