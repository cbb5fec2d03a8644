import type { Json, JsonObject } from '../json.ts';
import type { Capability } from './license.ts';

/** One setting of a feature that the console may save. */
export type FeatureSetting = {
  readonly description: string;
  /** JSON Schema of the value, with its `type`. */
  readonly schema: JsonObject & { readonly type: string };
  readonly fallback: Json;
  /** Environment variable that wins over what the console saved; undefined: there is none. */
  readonly variable?: string;
  /** A text that is sealed at rest and read back as `********`. */
  readonly secret?: true;
};

/** The one declaration of a feature (spec 1, gating rules; spec 4 A). Its routes name it: `feature` of a route's declaration. */
export type FeatureDeclaration = {
  readonly summary: string;
  /** Capability that lifts its limits and opens its paid parts. */
  readonly capability?: Capability;
  /** Nothing of it is served without the capability: 404, as if it had never been (spec 1, gating rules 1). */
  readonly licensedOnly?: true;
  /** What a tenant has for free, by the name of the ceiling. */
  readonly limits?: Readonly<Record<string, number>>;
  readonly settings?: Readonly<Record<string, FeatureSetting>>;
};

const retention = (description: string, fallback: number, variable: string): FeatureSetting => ({
  description, fallback, variable, schema: { type: 'integer', minimum: -99_999, maximum: 99_999 },
});

/** Every feature by its name, as `SVC_PLUGINS` and the status write it (spec 4 A). A feature that no route of this build names is not compiled in. */
export const FEATURES = {
  ai: { summary: 'Completions, classification and extraction by language models' },
  apikey: {
    summary: 'API keys of a tenant, their history and limits', capability: 'apikey-pro', limits: { 'apikey.keys': 5 },
    settings: { retention_days: retention('Days that the requests of API keys are kept; 0 or less keeps everything.', 365, 'APIKEY_RETENTION_DAYS') },
  },
  audit: { summary: 'The audit log: every change, its chain and its seals' },
  captcha: { summary: 'Proofs that a caller is a person' },
  'config-sync': { summary: 'Configuration bundles between instances', capability: 'config-sync' },
  content: { summary: 'Entries, their revisions and their life', capability: 'content-pro' },
  cron: { summary: 'Scheduled jobs and their alerts', capability: 'alerts-pro' },
  'data-export': { summary: 'Exports of entries' },
  'device-fingerprint': { summary: 'Risk of the device behind a request' },
  email: { summary: 'Templates of mails' },
  'error-tracking': { summary: 'Error codes, events, spikes and their alerts', capability: 'alerts-pro' },
  events: { summary: 'Events of an install\'s own' },
  flow: { summary: 'Flows: triggers, nodes, runs', capability: 'flow-pro', limits: { 'flow.flows': 20 } },
  graphql: { summary: 'The Content API over GraphQL' },
  grpc: { summary: 'The Content API over gRPC' },
  localization: { summary: 'Locales and translations', capability: 'localization-pro', limits: { 'localization.locales': 2 } },
  logging: { summary: 'The live log tail and alerts on log volume', capability: 'alerts-pro' },
  'magic-link': { summary: 'Sign-in by a link in a mail' },
  media: { summary: 'Files, images and their variants', capability: 'media-pro', limits: { 'media.variants': 1_000 } },
  messagebroker: { summary: 'Messages of an install\'s own on a broker' },
  migration: { summary: 'The database migrator', capability: 'migration-toolkit', licensedOnly: true },
  'rate-limit': { summary: 'Rules of rate limits, protections, address lists', capability: 'rate-limit-pro' },
  realtime: { summary: 'Live changes of entries over WebSockets' },
  review: { summary: 'Reviews of entries' },
  schema: { summary: 'Content types, presets and the canvas', capability: 'schema-pro' },
  'synthetic-monitoring': { summary: 'Probes and their alerts', capability: 'alerts-pro' },
  usage: { summary: 'Usage of a tenant and its budgets' },
  webhook: {
    summary: 'Outbound and incoming webhooks', capability: 'webhook-pro', limits: { 'webhook.endpoints': 25 },
    settings: { delivery_retention_days: retention('Days that what was sent to webhooks is kept, with its attempts; 0 or less keeps everything.', 30, 'WEBHOOK_DELIVERY_RETENTION_DAYS') },
  },
} as const satisfies Readonly<Record<string, FeatureDeclaration>>;

export type FeatureName = keyof typeof FEATURES;

export const FEATURE_NAMES = Object.keys(FEATURES).filter(isFeatureName);

export function isFeatureName(name: string): name is FeatureName {
  return Object.hasOwn(FEATURES, name);
}

/** A declaration with everything that it may leave out. */
export function declarationOf(name: FeatureName): FeatureDeclaration {
  return FEATURES[name];
}
