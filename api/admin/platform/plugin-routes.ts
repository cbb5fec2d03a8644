import { Type } from '@sinclair/typebox';
import {
  type ConfigureFeatureDependencies,
  configureFeature,
} from '../../../application/platform/configure-feature.ts';
import type { FeatureSettings } from '../../../application/platform/feature-settings.ts';
import type { FeatureStatus, Features } from '../../../application/platform/features.ts';
import { resetFeature } from '../../../application/platform/reset-feature.ts';
import { PLATFORM } from '../../../application/platform/wait-for-feature-change.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { FEATURE_NAMES, type FeatureName } from '../../../domain/platform/features.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { NullableText, Texts } from '../../http/schemas.ts';
import { compileBody } from '../../http/validators.ts';
import { savedSchema, shownSchema } from './setting-schema.ts';

const SHARED = { api: 'admin', tag: 'platform' } as const;

export type PluginRouteDependencies = Omit<ConfigureFeatureDependencies, 'features' | 'settings'> & {
  readonly features: Features;
  readonly settings: FeatureSettings;
  readonly entitlements: Entitlements;
};

const NameParams = Type.Object({ name: Type.String() });
const Status = Type.Object({
  name: Type.String(),
  compiled: Type.Boolean(),
  entitled: Type.Boolean(),
  requested: Type.Boolean(),
  active: Type.Boolean(),
  phase: Type.String({ description: 'One of running, stopped, unlicensed, failed and absent' }),
  reason: NullableText,
  last_error: NullableText,
  manifest: Type.Object({
    name: Type.String(),
    summary: Type.String(),
    capability: NullableText,
    licensed: Type.Boolean(),
    limits: Type.Record(Type.String(), Type.Integer()),
    settings: Texts,
  }),
  routes: Texts,
});
const Configuration = Type.Object({
  plugin: Type.String(),
  config: Type.Record(Type.String(), Type.Unknown()),
  sources: Type.Record(Type.String(), Type.String()),
});

/** Features of the installation, and their settings. */
export function pluginRoutes(dependencies: PluginRouteDependencies): readonly Route[] {
  const { features, settings, entitlements } = dependencies;
  const admins = { kind: 'credential', roles: ['admin', 'super_admin'] } as const;
  const superAdmins = { kind: 'credential', roles: ['super_admin'] } as const;
  const one = { ...SHARED, params: NameParams, notFound: 'plugin_not_found' } as const;
  const checks = new Map(FEATURE_NAMES.map((name) => [name, compileBody(savedSchema(settings.declared(name)))]));

  function existing({ name }: { readonly name: string }): FeatureName {
    const plugin = features.status().find((status) => status.name === name && status.compiled);
    if (!plugin) throw refusal('plugin_not_found');
    return plugin.name;
  }
  const configuration = (name: FeatureName): JsonObject => ({ plugin: name, ...settings.view(name) });

  function present({
    name,
    declaration,
    compiled,
    entitled,
    requested,
    phase,
    reason,
    lastError,
    routes,
  }: FeatureStatus): JsonObject {
    const { summary, capability, limits = {} } = declaration;
    return {
      name,
      compiled,
      entitled,
      requested,
      active: phase === 'running',
      phase,
      reason: reason ?? null,
      last_error: lastError ?? null,
      manifest: {
        name,
        summary,
        capability: capability ?? null,
        licensed: capability !== undefined && entitlements.has(capability),
        limits,
        settings: Object.keys(settings.declared(name)),
      },
      routes,
    };
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/plugins/status',
      operation: 'getPluginStatus',
      summary: 'List all features: whether each is built in, licensed, requested and running',
      access: admins,
      responses: { 200: Type.Array(Status) },
      handler: () => Promise.resolve({ status: 200, body: features.status().map(present) }),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/plugins/running',
      operation: 'getRunningPlugins',
      summary: 'List the features that serve the tenant, and those withheld from it',
      access: { kind: 'session' },
      responses: { 200: Type.Object({ plugins: Texts, withheld: Texts }) },
      handler: ({ tenant }) => {
        const running = features
          .status()
          .filter(({ phase, name }) => phase === 'running' && !features.isWithheld(tenant, name))
          .map(({ name }) => name);
        return Promise.resolve({ status: 200, body: { plugins: running, withheld: features.withheldFrom(tenant) } });
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/plugins/{name}/schema',
      operation: 'getPluginSchema',
      summary: 'Get the JSON Schema of the settings of a feature',
      access: admins,
      responses: { 200: Type.Unknown() },
      refusals: ['plugin_not_found'],
      handler: ({ params }) => {
        const name = existing(params);
        return Promise.resolve({ status: 200, body: shownSchema(name, settings.declared(name)) });
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/plugins/{name}/config',
      operation: 'getPluginConfig',
      summary: 'Get the current settings of a feature. Secrets are masked',
      access: admins,
      responses: { 200: Configuration },
      refusals: ['plugin_not_found'],
      handler: ({ params }) => Promise.resolve({ status: 200, body: configuration(existing(params)) }),
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/plugins/{name}/config',
      operation: 'savePluginConfig',
      summary: 'Save settings of a feature. Absent members stay unchanged, null restores the default',
      access: superAdmins,
      body: Type.Record(Type.String(), Type.Unknown()),
      responses: { 200: Configuration },
      refusals: ['plugin_not_found'],
      precheck: ({ params }) => existing(params),
      handler: async ({ checked: name, body, context }) => {
        const values = body as JsonObject;
        const problems = checks.get(name)?.(values, 0);
        if (problems) throw refusal('validation_failed', { fields: problems });
        const position = await configureFeature({ feature: name, configuration: values }, context, dependencies);
        return { status: 200, body: configuration(name), ...commitAt(position, [PLATFORM]) };
      },
    }),
    route({
      ...one,
      method: 'POST',
      path: '/api/admin/plugins/{name}/config/reset',
      operation: 'resetPluginConfig',
      summary: 'Reset the settings of a feature to their defaults',
      access: superAdmins,
      responses: { 200: Configuration },
      refusals: ['plugin_not_found'],
      handler: async ({ params, context }) => {
        const name = existing(params);
        const position = await resetFeature({ feature: name }, context, dependencies);
        return { status: 200, body: configuration(name), ...commitAt(position, [PLATFORM]) };
      },
    }),
  ];
}
