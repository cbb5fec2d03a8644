import { identityRoutes } from '../../api/admin/identity/identity-routes.ts';
import { authRoutes } from '../../api/content/auth-routes.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import type { ContentTypeDependencies } from '../../application/content/content-type-dependencies.ts';
import { type Authenticator, openAuthenticator } from '../../application/identity/authenticator.ts';
import { ensureDefaultTenant } from '../../application/identity/ensure-default-tenant.ts';
import { missingMagicLinkSetting } from '../../application/identity/magic-link-dependencies.ts';
import { renameSchemaInAccess } from '../../application/identity/rename-schema-in-access.ts';
import type { ErasePersonDependencies } from '../../application/platform/erase-person.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { IdentityReads } from '../../application/ports/identity-reads.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { keyRefusal } from '../../domain/identity/scopes.ts';
import { createKeyHasher } from '../crypto/key-hasher.ts';
import { createLruCache } from '../identity/lru-cache.ts';
import { sweepApiKeyRequests } from '../identity/sweep-api-key-requests.ts';
import { sweepMagicLinks } from '../identity/sweep-magic-links.ts';
import type { AuditModule } from './compose-audit.ts';
import type { MailModule } from './compose-mail.ts';
import { type IdentityServices, openIdentity } from './identity/open-identity.ts';
import { openTrustedIssuers } from './identity/open-trusted-issuers.ts';
import { type Composition, EMPTY_MODULE, type Module, type Sweep } from './module.ts';
import { type Closers, openParts } from './open-parts.ts';
import type { Platform } from './platform/platform.ts';
import { projections } from './platform/projections.ts';
import { systemContext } from './platform/system-context.ts';

export type IdentityNeeds = Pick<MailModule, 'mailer'> &
  Pick<AuditModule, 'publicKey'> &
  Pick<Composition, 'servedRoutes'>;

export type IdentityModule = Module & {
  readonly accessRules: AccessRules;
  /** Renames a content type in access rules and in the lists of API keys. */
  readonly renameInAccess: ContentTypeDependencies['renameInAccess'];
  readonly userById: IdentityReads['userById'];
  readonly erasureDependencies: Omit<ErasePersonDependencies, 'personal'>;
  /** Writes the API key requests that this process has not stored yet. */
  readonly flushKeyRequests: () => Promise<void>;
  /** What the HTTP layer needs from identity for each request. */
  readonly http: Pick<
    HttpDependencies,
    'authenticate' | 'checkKeyScope' | 'admitKeyRequest' | 'recordKeyRequest' | 'tenantState' | 'tenantOfHost'
  >;
  /** Number of API key requests that were not recorded because the log could not keep up. */
  readonly droppedKeyRequests: () => number;
  /** The token that the first setup asks for; undefined once an account exists. */
  pendingSetupToken(): Promise<string | undefined>;
};

/** Tenants, accounts, credentials and sign-in. */
export function composeIdentity(platform: Platform, needs: IdentityNeeds): Promise<IdentityModule> {
  return openParts((closers) => openIdentityModule(platform, { needs, closers }));
}

async function openIdentityModule(
  platform: Platform,
  { needs, closers }: { readonly needs: IdentityNeeds; readonly closers: Closers },
): Promise<Omit<IdentityModule, 'close'>> {
  const { settings } = platform;
  const identity = await openIdentity(platform, needs);
  closers.add(() => identity.close());
  const { dependencies, keyRequests, setupToken } = identity;
  const { reads, tenants } = dependencies;
  const authenticator = openRequestAuthenticator(platform, { dependencies, closers });
  if (await reads.anyUser()) await ensureDefaultTenantExists(platform, dependencies);
  reportMagicLinkProblem(platform, dependencies);
  return {
    ...EMPTY_MODULE,
    routes: [
      ...identityRoutes({
        ...dependencies,
        routes: needs.servedRoutes,
        readModels: projections.map(({ name }) => name),
        secureCookie: settings.secureCookie,
      }),
      ...authRoutes({ ...dependencies, publicKeys: [needs.publicKey] }),
    ],
    sweeps: identitySweeps(platform, dependencies),
    http: {
      authenticate: (credentials) => authenticator.authenticate(credentials),
      checkKeyScope: keyRefusal,
      admitKeyRequest: (key, at) => keyRequests.admit(key, at),
      recordKeyRequest: (request) => {
        keyRequests.record(request);
      },
      tenantState: (slug) => tenants.state(slug),
      tenantOfHost: (host) => tenants.ofHost(host),
    },
    accessRules: tenants.accessRules,
    renameInAccess: (names, context) => renameSchemaInAccess(names, context, dependencies),
    userById: (id) => reads.userById(id),
    erasureDependencies: dependencies,
    flushKeyRequests: () => keyRequests.flush(),
    droppedKeyRequests: () => keyRequests.dropped(),
    pendingSetupToken: async () => ((await reads.anyUser()) ? undefined : setupToken),
  };
}

/** Checks of credentials, with the keys of trusted issuers and the previous pepper. */
function openRequestAuthenticator(
  platform: Platform,
  { dependencies, closers }: { readonly dependencies: IdentityServices; readonly closers: Closers },
): Authenticator {
  const { apiKeyPepperPrevious } = platform.settings;
  const hashUnderPrevious =
    apiKeyPepperPrevious === undefined ? undefined : createKeyHasher({ pepper: apiKeyPepperPrevious });
  const trusted = openTrustedIssuers(platform);
  if (trusted) closers.add(() => trusted.close());
  const authenticator = openAuthenticator({
    ...dependencies,
    previousHashes: hashUnderPrevious && ((raw) => [hashUnderPrevious(raw)]),
    now: platform.now,
    newCache: createLruCache,
    trustedIssuers: trusted?.issuers,
  });
  closers.add(() => {
    authenticator.close();
  });
  return authenticator;
}

/**
 * Appends the creation of the default tenant in an early installation, which has accounts but lacks this event. A
 * failure is logged.
 */
async function ensureDefaultTenantExists(platform: Platform, dependencies: IdentityServices): Promise<void> {
  await ensureDefaultTenant(systemContext('start', platform), dependencies).catch((error: unknown) => {
    platform.logger.warn('the existence of the default tenant could not be checked', { reason: reasonOf(error) });
  });
}

function reportMagicLinkProblem({ features, logger }: Platform, dependencies: IdentityServices): void {
  const reason = missingMagicLinkSetting(dependencies);
  if (reason === undefined || !features.isRequested('magic-link')) return;
  features.report('magic-link', reason);
  logger.info('magic-link sign-in does not start', { reason });
}

function identitySweeps(
  { database, featureSettings, settings, now }: Platform,
  { sessions, challenges, passwordResets, deviceSignIns, magicLinks }: IdentityServices,
): readonly Sweep[] {
  return [
    {
      name: 'sweep sessions',
      everyMs: 600_000,
      async run() {
        const swept = await Promise.all(
          [sessions, challenges, passwordResets, deviceSignIns].map((store) => store.sweep(now())),
        );
        return swept.reduce((sum, count) => sum + count, 0);
      },
    },
    {
      name: 'sweep magic links',
      everyMs: 900_000,
      run: () =>
        sweepMagicLinks(
          {
            tokenRetentionMinutes: settings.magicLinkTokenRetentionMinutes,
            retentionDays: settings.magicLinkRetentionDays,
          },
          { now },
          { magicLinks },
        ),
    },
    {
      name: 'sweep API key requests',
      everyMs: 600_000,
      run: (signal) =>
        sweepApiKeyRequests(
          { retentionDays: Number(featureSettings.value('apikey', 'retention_days')), signal },
          { database },
        ),
    },
  ];
}
