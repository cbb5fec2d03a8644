import type { IdentityRouteDependencies } from '../../../api/admin/identity/identity-routes.ts';
import { type TenantDirectory, createTenantDirectory } from '../../../application/identity/tenant-directory.ts';
import type { IdentityChanges } from '../../../application/ports/identity-changes.ts';
import type { Mailer } from '../../../application/ports/mailer.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { equalSecrets } from '../../../domain/identity/equal-secrets.ts';
import type { PasswordPolicy } from '../../../domain/identity/password-policy.ts';
import { createIdentityQueries } from '../../../projections/identity/queries.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createCommonPasswords } from '../../crypto/common-passwords.ts';
import { createKeyHasher } from '../../crypto/key-hasher.ts';
import { BCRYPT_BYTES, createPasswords } from '../../crypto/passwords.ts';
import { randomSecrets } from '../../crypto/random-secrets.ts';
import { type ApiKeyRequestLog, createApiKeyRequests } from '../../identity/api-key-requests.ts';
import { createIdentityChanges } from '../../identity/identity-changes.ts';
import { createSessions } from '../../identity/sessions.ts';
import { createExclusive } from '../../postgres/exclusive.ts';
import { type Opened, opening } from '../opening.ts';
import type { Platform } from '../platform/platform.ts';
import { openSigning } from './open-signing.ts';
import { createSignInGuards } from './sign-in-guards.ts';
import { createSignInLinks, magicLinkOptionsOf } from './sign-in-links.ts';

/** What the identity module provides to its routes and to other modules. */
export type IdentityServices = Omit<IdentityRouteDependencies, 'routes' | 'readModels' | 'secureCookie'> & {
  readonly changes: IdentityChanges;
  readonly tenants: TenantDirectory;
};

export type OpenIdentity = {
  readonly dependencies: IdentityServices;
  /** Requests by API keys: monthly limits and the request log. */
  readonly keyRequests: ApiKeyRequestLog;
  /** One-time token that the first setup asks for: `SVC_SETUP_TOKEN`, else a random one. */
  readonly setupToken: string;
  close(): Promise<void>;
};

/**
 * Opens everything that the use cases of identity depend on.
 * @throws when the tenants or the signing keys cannot be read
 */
export function openIdentity(platform: Platform, { mailer }: { readonly mailer: Mailer }): Promise<OpenIdentity> {
  return opening((opened) => openServices(platform, { mailer, opened }));
}

async function openServices(
  platform: Platform,
  { mailer, opened }: { readonly mailer: Mailer; readonly opened: Opened },
): Promise<Omit<OpenIdentity, 'close'>> {
  const { database, eventStore, claims, vault, progress, entitlements, settings, logger, now, newId } = platform;
  const setupToken = settings.setupToken ?? randomSecrets.refreshToken();
  const { reads, changes, tenants } = await openTenants(platform, opened);
  const signing = await openSigning({ settings, logger, now });
  opened.add(() => {
    signing.close();
  });
  const passwords = createPasswords({ algorithm: settings.passwordHashAlgorithm });
  opened.add(() => passwords.close());
  const keyRequests = createApiKeyRequests({ database, vault, logger, newId, now });
  opened.add(() => keyRequests.close());
  return {
    setupToken,
    keyRequests,
    dependencies: {
      eventStore,
      claims,
      vault,
      progress,
      entitlements,
      ...createSignInGuards(platform),
      ...createSignInLinks({ database, magicLinkOptions: magicLinkOptionsOf(settings) }),
      reads,
      changes,
      tenants,
      sessions: createSessions({ database }),
      tokens: signing.tokens,
      passwords,
      mailer,
      hashCredential: createKeyHasher(settings.apiKeyPepper ?? ''),
      consoleUrl: settings.consoleUrl,
      secrets: randomSecrets,
      exclusive: createExclusive({ database }),
      passwordPolicy: passwordPolicyOf(settings),
      refreshTtlSeconds: settings.refreshTokenTtlSeconds,
      apiKeyRequests: keyRequests,
      isSetupToken: (presented) => equalSecrets(presented, setupToken),
    },
  };
}

/** The identity read model, its changes, and the tenants in memory. */
async function openTenants({ database, progress, logger }: Platform, opened: Opened) {
  const reads = createIdentityQueries({ database });
  const changes = createIdentityChanges({ lastChange: () => reads.lastChange(), progress });
  opened.add(() => {
    changes.close();
  });
  const tenants = createTenantDirectory({
    reads,
    progress,
    changes,
    onError: (error) => {
      logger.warn('tenants and access rules could not be reloaded; the ones loaded before stay in force', {
        reason: reasonOf(error),
      });
    },
  });
  opened.add(() => {
    tenants.close();
  });
  await tenants.start();
  return { reads, changes, tenants };
}

function passwordPolicyOf(settings: Settings): PasswordPolicy {
  return {
    minLength: settings.passwordMinLength,
    requireComplexity: settings.passwordRequireComplexity,
    ...(settings.passwordHashAlgorithm === 'bcrypt' ? { maxBytes: BCRYPT_BYTES } : {}),
    ...(settings.passwordCheckCommon ? { isCommon: createCommonPasswords() } : {}),
  };
}
