import type { IdentityRouteDependencies } from '../../../api/admin/identity/identity-routes.ts';
import { type TenantDirectory, createTenantDirectory } from '../../../application/identity/tenant-directory.ts';
import type { IdentityChanges } from '../../../application/ports/identity-changes.ts';
import type { IdentityReads } from '../../../application/ports/identity-reads.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { equalSecrets } from '../../../domain/identity/equal-secrets.ts';
import type { PasswordPolicy } from '../../../domain/identity/password-policy.ts';
import { createIdentityQueries } from '../../../projections/identity/queries.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createCommonPasswords } from '../../crypto/common-passwords.ts';
import { createKeyHasher } from '../../crypto/key-hasher.ts';
import { BCRYPT_BYTES, openPasswords } from '../../crypto/passwords.ts';
import { randomSecrets } from '../../crypto/random-secrets.ts';
import { type ApiKeyRequestLog, openApiKeyRequests } from '../../identity/api-key-requests.ts';
import { openIdentityChanges } from '../../identity/identity-changes.ts';
import { createSessions } from '../../identity/sessions.ts';
import type { MailModule } from '../compose-mail.ts';
import { type Closers, openParts } from '../open-parts.ts';
import type { Platform } from '../platform/platform.ts';
import { createSignInGuards } from './create-sign-in-guards.ts';
import { createSignInLinks, magicLinkOptionsOf } from './create-sign-in-links.ts';
import { openSigning } from './open-signing.ts';

/** What the identity module provides to its routes and to other modules. */
export type IdentityServices = Omit<IdentityRouteDependencies, 'routes' | 'readModels' | 'secureCookie'> & {
  readonly changes: IdentityChanges;
  readonly tenants: TenantDirectory;
};

export type OpenIdentityNeeds = Pick<MailModule, 'mailer'>;

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
export function openIdentity(platform: Platform, { mailer }: OpenIdentityNeeds): Promise<OpenIdentity> {
  return openParts((closers) => openIdentityServices(platform, { mailer, closers }));
}

async function openIdentityServices(
  platform: Platform,
  { mailer, closers }: OpenIdentityNeeds & { readonly closers: Closers },
): Promise<Omit<OpenIdentity, 'close'>> {
  const { database, exclusive, eventStore, claims, vault, progress, entitlements, settings, logger, now, newId } =
    platform;
  const setupToken = settings.setupToken ?? randomSecrets.refreshToken();
  const { reads, changes, tenants, close } = await openTenants(platform);
  closers.add(close);
  const signing = await openSigning(platform);
  closers.add(() => {
    signing.close();
  });
  const passwords = openPasswords({ algorithm: settings.passwordHashAlgorithm });
  closers.add(() => passwords.close());
  const keyRequests = openApiKeyRequests({ database, vault, logger, newId, now });
  closers.add(() => keyRequests.close());
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
      hashCredential: createKeyHasher({ pepper: settings.apiKeyPepper ?? '' }),
      consoleUrl: settings.consoleUrl,
      secrets: randomSecrets,
      exclusive,
      passwordPolicy: passwordPolicyOf(settings),
      refreshTtlSeconds: settings.refreshTokenTtlSeconds,
      apiKeyRequests: keyRequests,
      isSetupToken: (presented) => equalSecrets(presented, setupToken),
    },
  };
}

type OpenTenants = Pick<IdentityServices, 'changes' | 'tenants'> & {
  readonly reads: IdentityReads;
  readonly close: () => Promise<void>;
};

/** The identity read model, its changes, and the tenants in memory. */
function openTenants({ database, progress, logger }: Platform): Promise<OpenTenants> {
  return openParts(async (closers) => {
    const reads = createIdentityQueries({ database });
    const changes = openIdentityChanges({ lastChange: () => reads.lastChange(), progress });
    closers.add(() => {
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
    closers.add(() => {
      tenants.close();
    });
    await tenants.start();
    return { reads, changes, tenants };
  });
}

function passwordPolicyOf(settings: Settings): PasswordPolicy {
  return {
    minLength: settings.passwordMinLength,
    requireComplexity: settings.passwordRequireComplexity,
    ...(settings.passwordHashAlgorithm === 'bcrypt' ? { maxBytes: BCRYPT_BYTES } : {}),
    ...(settings.passwordCheckCommon ? { isCommon: createCommonPasswords() } : {}),
  };
}
