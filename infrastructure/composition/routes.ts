import type { Metrics } from '../../application/ports/metrics.ts';
import type { RateCounters } from '../../application/ports/rate-counters.ts';
import { adminContentRoutes } from '../../api/admin/content/admin-content-routes.ts';
import { undoRoutes } from '../../api/admin/content/undo-routes.ts';
import type { Configuration } from '../../application/ports/configuration.ts';
import { auditRoutes } from '../../api/admin/platform/audit.ts';
import { gdprRoutes } from '../../api/admin/platform/gdpr-routes.ts';
import { licenseRoutes } from '../../api/admin/platform/license-routes.ts';
import { pluginRoutes } from '../../api/admin/platform/plugin-routes.ts';
import { tenantFeatureRoutes } from '../../api/admin/platform/tenant-feature-routes.ts';
import { releaseRoutes } from '../../api/admin/content/release-routes.ts';
import { canvasLayoutRoutes } from '../../api/admin/content-types/canvas-layout.ts';
import { presetRoutes } from '../../api/admin/content-types/presets.ts';
import { configRoutes } from '../../api/admin/platform/config-routes.ts';
import { recoverFieldRoute } from '../../api/admin/content-types/recover-field.ts';
import { contentTypeRoutes } from '../../api/admin/content-types/routes.ts';
import { identityRoutes } from '../../api/admin/identity/identity-routes.ts';
import { webhookRoutes } from '../../api/admin/automation/webhook-routes.ts';
import { contentAuthRoutes } from '../../api/content/auth.ts';
import { contentTypeReadRoutes } from '../../api/content/content-types.ts';
import { entryRoutes } from '../../api/content/entry-routes.ts';
import type { Route } from '../../api/http/route.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { HealthChecks } from '../../api/platform/health.ts';
import { healthRoutes } from '../../api/platform/health.ts';
import { metricsRoute } from '../../api/platform/metrics.ts';
import { asyncApiRoute } from '../../api/platform/asyncapi-route.ts';
import { docsRoutes } from '../../api/platform/docs/docs-routes.ts';
import { openApiRoutes } from '../../api/platform/openapi.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { composeAdminContent } from './admin-content.ts';
import type { Audit } from './audit.ts';
import type { Automation } from './automation.ts';
import type { Content } from './content.ts';
import type { InstallFeatures } from './features.ts';
import type { Gdpr } from './gdpr.ts';
import type { Identity } from './identity.ts';
import type { LatencyRecorder } from '../metrics/latency-recorder.ts';
import type { License } from './license.ts';
import { operationsRoutes } from './operations.ts';
import type { Modelling } from './modelling.ts';
import type { ComposedReleases } from './releases.ts';
import type { Replica } from './replica.ts';
import { projections } from './projections.ts';
import type { Stores } from './stores.ts';

export type RoutesOptions = {
  readonly stores: Pick<Stores, 'eventStore' | 'database'>;
  readonly replica: Replica | undefined;
  readonly settings: Settings;
  readonly metrics: Metrics & { text(): Promise<string>; readonly contentType: string };
  readonly checks: HealthChecks;
  readonly configuration: Configuration;
  readonly latencies: LatencyRecorder;
  readonly audit: Audit;
  readonly content: Content;
  readonly modelling: Modelling;
  readonly releases: ComposedReleases;
  readonly rateCounters: RateCounters;
  readonly identity: Pick<Identity, 'dependencies'>;
  readonly gdpr: Gdpr;
  readonly automation: Automation;
  readonly license: License;
  readonly install: InstallFeatures;
  readonly version: string;
  /** False in a process without the role `api`: only probes and metrics are served. */
  readonly api: boolean;
};

/** The table of routes of both listeners (spec 5, rule 13). */
export function composeRoutes({ stores, replica, settings, configuration, latencies, metrics, checks, audit, content, modelling, releases, rateCounters, identity, gdpr, automation, license, install, version, api }: RoutesOptions): readonly Route[] {
  const operations = [...healthRoutes(checks), metricsRoute({ metrics, token: settings.metricsToken })];
  if (!api) return operations;
  const { features, settings: featureSettings } = install;
  const { vault, progress, tenants } = identity.dependencies;
  const built: readonly Route[] = [
    ...operations,
    ...openApiRoutes({ routes: () => served, version, queries: content.typeDependencies.queries, accessRules: content.entryDependencies.accessRules }),
    asyncApiRoute({ version, prefix: settings.kafkaTopicPrefix, brokers: settings.kafkaBrokers ?? [] }),
    ...docsRoutes(),
    ...operationsRoutes({ database: stores.database, replica, settings, latencies }),
    ...auditRoutes(audit.dependencies),
    ...configRoutes({ eventStore: stores.eventStore, vault, configuration }),
    ...gdprRoutes(gdpr.routeDependencies),
    ...licenseRoutes({ ...license, eventStore: stores.eventStore }),
    ...identityRoutes({ ...identity.dependencies, routes: () => served, secureCookie: settings.secureCookie, readModels: projections.map(({ name }) => name) }),
    ...contentAuthRoutes({ ...identity.dependencies, publicKeys: [audit.publicKey] }),
    ...contentTypeRoutes({ ...content.typeDependencies, rateCounters }),
    ...presetRoutes(modelling.presets),
    ...canvasLayoutRoutes(modelling.canvas),
    recoverFieldRoute(modelling.recover),
    ...releaseRoutes(releases.dependencies),
    ...contentTypeReadRoutes({ queries: content.typeDependencies.queries, accessRules: content.entryDependencies.accessRules }),
    ...undoRoutes({ ...content.entryDependencies, waitFor: content.typeDependencies.waitFor, typeById: async (tenant, id) => liveType(await content.typeById(id), tenant) }),
    ...entryRoutes({ ...content.entryDependencies, entitlements: license.holder.entitlements }),
    ...adminContentRoutes(composeAdminContent({ database: stores.database, ...(replica && { reading: replica.queryable }), content, entitlements: license.holder.entitlements })),
    ...webhookRoutes(automation.routeDependencies),
    ...pluginRoutes({ eventStore: stores.eventStore, vault, progress, features, settings: featureSettings, entitlements: license.holder.entitlements }),
    ...tenantFeatureRoutes({ eventStore: stores.eventStore, progress, features, tenantState: (slug) => tenants.state(slug) }),
  ];
  features.declare(built);
  // What SVC_PLUGINS does not list was never served.
  const served = built.filter(({ feature }) => feature === undefined || features.isRequested(feature));
  return served;
}

function liveType(type: StoredContentType | undefined, tenant: string): StoredContentType | undefined {
  return type?.tenant === tenant && !type.deleted ? type : undefined;
}
