import type { Json, JsonObject } from '../json.ts';
import type { Capability } from './license.ts';

/** One setting of a feature that the console may save. */
export type FeatureSetting = {
  readonly description: string;
  /** JSON Schema of the value, with its `type`. */
  readonly schema: JsonObject & { readonly type: string };
  readonly fallback: Json;
  /** Environment variable that overrides the saved value; undefined: the feature setting has no variable. */
  readonly variable?: string;
  /** The value is text, stored sealed and shown as `********`. */
  readonly secret?: true;
};

/** Declaration of a feature. A route belongs to a feature by `feature` in the route's declaration. */
export type FeatureDeclaration = {
  readonly summary: string;
  /** Capability that removes the feature's limits and unlocks its paid parts. */
  readonly capability?: Capability;
  /** Without the capability all routes of the feature answer 404, as if the feature did not exist. */
  readonly licensedOnly?: true;
  /** What a tenant may use without the capability, by the name of the limit. */
  readonly limits?: Readonly<Record<string, number>>;
  readonly settings?: Readonly<Record<string, FeatureSetting>>;
};

const retention = (description: string, fallback: number, variable: string): FeatureSetting => ({
  description,
  fallback,
  variable,
  schema: { type: 'integer', minimum: -99_999, maximum: 99_999 },
});

/**
 * Every feature by its name, as used by `SVC_PLUGINS` and the status. A build contains a feature when one of its routes
 * belongs to it.
 */
export const FEATURES = {
  ai: { summary: 'Completions, classification and extraction by language models' },
  apikey: {
    summary: 'API keys of a tenant, their history and limits',
    capability: 'apikey-pro',
    limits: { 'apikey.keys': 5 },
    settings: {
      retention_days: retention(
        'Days that the requests of API keys are kept; 0 or less keeps everything.',
        365,
        'APIKEY_RETENTION_DAYS',
      ),
    },
  },
  audit: { summary: 'The audit log: every change, its chain and its seals' },
  captcha: { summary: 'Proofs that a caller is a person' },
  'config-sync': { summary: 'Configuration bundles between instances', capability: 'config-sync' },
  content: { summary: 'Entries, their revisions and status changes', capability: 'content-pro' },
  cron: { summary: 'Scheduled jobs and their alerts', capability: 'alerts-pro' },
  'data-export': { summary: 'Exports of entries' },
  'device-fingerprint': { summary: 'Risk of the device behind a request' },
  email: { summary: 'Templates of mails' },
  'error-tracking': { summary: 'Error codes, events, spikes and their alerts', capability: 'alerts-pro' },
  events: { summary: "Events of an installation's own" },
  flow: { summary: 'Flows: triggers, nodes, runs', capability: 'flow-pro', limits: { 'flow.flows': 20 } },
  graphql: { summary: 'The Content API over GraphQL' },
  grpc: { summary: 'The Content API over gRPC' },
  localization: {
    summary: 'Locales and translations',
    capability: 'localization-pro',
    limits: { 'localization.locales': 2 },
  },
  logging: { summary: 'The live log tail and alerts on log volume', capability: 'alerts-pro' },
  'magic-link': { summary: 'Sign-in by a link in a mail' },
  media: { summary: 'Files, images and their variants', capability: 'media-pro', limits: { 'media.variants': 1_000 } },
  messagebroker: { summary: "Messages of an installation's own on a broker" },
  migration: { summary: 'The database migrator', capability: 'migration-toolkit', licensedOnly: true },
  'rate-limit': { summary: 'Rules of rate limits, protections, address lists', capability: 'rate-limit-pro' },
  realtime: { summary: 'Live changes of entries over WebSockets' },
  review: { summary: 'Reviews of entries' },
  schema: { summary: 'Content types, presets and the canvas', capability: 'schema-pro' },
  'synthetic-monitoring': { summary: 'Probes and their alerts', capability: 'alerts-pro' },
  usage: { summary: 'Usage of a tenant and its budgets' },
  webhook: {
    summary: 'Outbound and incoming webhooks',
    capability: 'webhook-pro',
    limits: { 'webhook.endpoints': 25 },
    settings: {
      delivery_retention_days: retention(
        'Days that what was sent to webhooks is kept, with its attempts; 0 or less keeps everything.',
        30,
        'WEBHOOK_DELIVERY_RETENTION_DAYS',
      ),
    },
  },
} as const satisfies Readonly<Record<string, FeatureDeclaration>>;

export type FeatureName = keyof typeof FEATURES;

export const FEATURE_NAMES = Object.keys(FEATURES).filter(isFeatureName);

export function isFeatureName(name: string): name is FeatureName {
  return Object.hasOwn(FEATURES, name);
}

/** The declaration of a feature, typed with its optional members. */
export function declarationOf(name: FeatureName): FeatureDeclaration {
  return FEATURES[name];
}
