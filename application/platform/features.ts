import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';
import {
  FEATURE_NAMES,
  type FeatureDeclaration,
  type FeatureName,
  declarationOf,
} from '../../domain/platform/features.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { FeatureRecords } from '../ports/feature-records.ts';

/** State of a feature in this installation. */
export type FeaturePhase =
  /** Its routes are served. */
  | 'running'
  /** `SVC_PLUGINS` does not list the feature. */
  | 'stopped'
  /** The license does not grant its capability. */
  | 'unlicensed'
  /** The feature could not start; `reason` holds the error. */
  | 'failed'
  /** This build does not contain the feature. */
  | 'absent';

export type FeatureStatus = {
  readonly name: FeatureName;
  readonly declaration: FeatureDeclaration;
  readonly compiled: boolean;
  readonly entitled: boolean;
  readonly requested: boolean;
  readonly phase: FeaturePhase;
  /** Why the feature is not running; undefined while it runs. */
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  /** Routes as `METHOD /path`, in the order of declaration. */
  readonly routes: readonly string[];
};

/**
 * Which features are available, and to which tenants. All functions except `reload` only read memory, because every
 * request calls them.
 */
export type Features = {
  /** Whether `SVC_PLUGINS` lists the feature, or is not set. */
  isRequested(feature: string): boolean;
  /**
   * Whether the feature must look nonexistent because the license does not grant its capability: its routes answer 404.
   */
  isHidden(feature: string): boolean;
  /** Whether the feature is withheld from the tenant. */
  isWithheld(tenant: string, feature: string): boolean;
  /** Names of the features withheld from the tenant, sorted. */
  withheldFrom(tenant: string): readonly string[];
  /** Settings that the console saved, as of the last `reload`. */
  saved(feature: FeatureName): FeatureConfiguration | undefined;
  status(): readonly FeatureStatus[];
  /** Registers the routes of this build; features without a route are absent. */
  declare(routes: readonly DeclaredRoute[]): void;
  /** Reports why a feature could not start; undefined: it started. */
  report(feature: FeatureName, problem: string | undefined): void;
  /** Reads the saved settings and the withheld features again. */
  reload(): Promise<void>;
};

export type DeclaredRoute = { readonly method: string; readonly path: string; readonly feature?: string };

export type FeaturesOptions = {
  readonly entitlements: Entitlements;
  readonly records: FeatureRecords;
  /** Setting `SVC_PLUGINS`; undefined: every feature. */
  readonly requested: readonly FeatureName[] | undefined;
};

export function createFeatures({ entitlements, records, requested }: FeaturesOptions): Features {
  const requestedNames: ReadonlySet<string> = new Set(requested ?? FEATURE_NAMES);
  const licensed = new Map<string, Capability>(
    FEATURE_NAMES.flatMap((name) => {
      const { capability, licensedOnly } = declarationOf(name);
      return licensedOnly && capability ? [[name, capability] as const] : [];
    }),
  );
  const problems = new Map<FeatureName, string>();
  let routes = new Map<string, readonly string[]>();
  let withheld: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  let configurations: ReadonlyMap<string, FeatureConfiguration> = new Map();

  function isHidden(feature: string): boolean {
    const capability = licensed.get(feature);
    return capability !== undefined && !entitlements.has(capability);
  }

  function statusOf(name: FeatureName): FeatureStatus {
    const lastError = problems.get(name);
    const facts = {
      name,
      declaration: declarationOf(name),
      compiled: routes.has(name),
      entitled: !isHidden(name),
      requested: requestedNames.has(name),
      lastError,
      routes: routes.get(name) ?? [],
    };
    if (!facts.compiled) return { ...facts, phase: 'absent', reason: 'this build does not contain it' };
    if (!facts.requested) return { ...facts, phase: 'stopped', reason: 'SVC_PLUGINS does not list it' };
    if (!facts.entitled)
      return { ...facts, phase: 'unlicensed', reason: `it needs the capability ${licensed.get(name) ?? ''}` };
    return { ...facts, phase: lastError === undefined ? 'running' : 'failed', reason: lastError };
  }

  return {
    isRequested: (feature) => requestedNames.has(feature),
    isHidden,
    isWithheld: (tenant, feature) => withheld.get(tenant)?.has(feature) === true,
    withheldFrom: (tenant) => [...(withheld.get(tenant) ?? [])],
    saved: (feature) => configurations.get(feature),
    status: () => FEATURE_NAMES.map(statusOf),
    declare(table) {
      const byFeature = new Map<string, string[]>();
      for (const { method, path, feature } of table) {
        if (feature === undefined) continue;
        byFeature.set(feature, [...(byFeature.get(feature) ?? []), `${method} ${path}`]);
      }
      routes = byFeature;
    },
    report(feature, problem) {
      if (problem === undefined) problems.delete(feature);
      else problems.set(feature, problem);
    },
    async reload() {
      [withheld, configurations] = await Promise.all([records.withheld(), records.configurations()]);
    },
  };
}
