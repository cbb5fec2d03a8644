import { identityRoutes } from '../../api/admin/identity/identity-routes.ts';
import { contentAuthRoutes } from '../../api/content/auth-routes.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import type { Route } from '../../api/http/route.ts';
import { type Authenticator, createAuthenticator } from '../../application/identity/authenticator.ts';
import { ensureDefaultTenant } from '../../application/identity/ensure-default-tenant.ts';
import { missingMagicLinkSetting } from '../../application/identity/magic-link-dependencies.ts';
import { renameSchemaInAccess } from '../../application/identity/rename-schema-in-access.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { keyRefusal } from '../../domain/identity/scopes.ts';
import type { JsonObject } from '../../domain/json.ts';
import { createKeyHasher } from '../crypto/key-hasher.ts';
import { createLruCache } from '../identity/lru-cache.ts';
import { sweepApiKeyRequests } from '../identity/sweep-api-key-requests.ts';
import { sweepMagicLinks } from '../identity/sweep-magic-links.ts';
import type { ContentNeeds } from './compose-content.ts';
import type { GdprNeeds } from './compose-gdpr.ts';
import { type IdentityServices, openIdentity } from './identity/open-identity.ts';
import { openTrustedIssuers } from './identity/open-trusted-issuers.ts';
import { EMPTY_MODULE, type Module, type Sweep } from './module.ts';
import { type Opened, opening } from './opening.ts';
import type { Platform } from './platform/platform.ts';
import { systemContext } from './platform/system-context.ts';

export type IdentityNeeds = {
  readonly mailer: Mailer;
  /** Further public keys of this installation, published beside those of session tokens. */
  readonly publicKeys: readonly JsonObject[];
  /** Every route that this process serves; known once all modules are composed. */
  readonly servedRoutes: () => readonly Route[];
  /** Names of all read models; the deletion of a tenant waits for each. */
  readonly readModels: readonly string[];
};

export type IdentityModule = Module &
  ContentNeeds &
  GdprNeeds & {
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
  return opening((opened) => composeOpened(platform, { needs, opened }));
}

async function composeOpened(
  platform: Platform,
  { needs, opened }: { readonly needs: IdentityNeeds; readonly opened: Opened },
): Promise<Omit<IdentityModule, 'close'>> {
  const { settings } = platform;
  const identity = await openIdentity(platform, needs);
  opened.add(() => identity.close());
  const { dependencies, keyRequests, setupToken } = identity;
  const { reads, tenants } = dependencies;
  const { authenticator, close: closeAuthenticator } = openAuthenticator(platform, dependencies);
  opened.add(closeAuthenticator);
  if (await reads.anyUser()) await ensureDefaultTenantExists(platform, dependencies);
  reportMagicLinkProblem(platform, dependencies);
  return {
    ...EMPTY_MODULE,
    routes: [
      ...identityRoutes({
        ...dependencies,
        routes: needs.servedRoutes,
        readModels: needs.readModels,
        secureCookie: settings.secureCookie,
      }),
      ...contentAuthRoutes({ ...dependencies, publicKeys: needs.publicKeys }),
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
function openAuthenticator(
  platform: Platform,
  dependencies: IdentityServices,
): { readonly authenticator: Authenticator; readonly close: () => Promise<void> } {
  const { apiKeyPepperPrevious } = platform.settings;
  const hashUnderPrevious = apiKeyPepperPrevious === undefined ? undefined : createKeyHasher(apiKeyPepperPrevious);
  const trusted = openTrustedIssuers(platform);
  const authenticator = createAuthenticator({
    ...dependencies,
    previousHashes: hashUnderPrevious && ((raw) => [hashUnderPrevious(raw)]),
    now: platform.now,
    newCache: createLruCache,
    trustedIssuers: trusted?.issuers,
  });
  return {
    authenticator,
    async close() {
      authenticator.close();
      await trusted?.close();
    },
  };
}

/**
 * Appends the creation of the default tenant in an early installation, which has accounts but lacks this event. A failure is
 * logged.
 */
async function ensureDefaultTenantExists(platform: Platform, dependencies: IdentityServices): Promise<void> {
  await ensureDefaultTenant(systemContext('start', platform), dependencies).catch((error: unknown) => {
    platform.logger.warn('could not check whether the default tenant exists', { reason: reasonOf(error) });
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
          { magicLinks, now },
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
