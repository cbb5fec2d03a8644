import type { FeatureDeclaration, FeatureName } from '../../domain/platform/features.ts';
import { declarationOf, FEATURE_NAMES } from '../../domain/platform/features.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { FeatureRecords } from '../ports/feature-records.ts';

/** Where a feature stands on this install. */
export type FeaturePhase =
  /** It serves. */
  | 'running'
  /** `SVC_PLUGINS` does not list it. */
  | 'stopped'
  /** Its license is missing. */
  | 'unlicensed'
  /** It could not start; it says why. */
  | 'failed'
  /** This build does not hold it. */
  | 'absent';

export type FeatureStatus = {
  readonly name: FeatureName;
  readonly declaration: FeatureDeclaration;
  readonly compiled: boolean;
  readonly entitled: boolean;
  readonly requested: boolean;
  readonly phase: FeaturePhase;
  /** Why it does not run. */
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  /** `METHOD /path`, in the order of the table. */
  readonly routes: readonly string[];
};

/** Which features run here and for whom (spec 1, gating rules). Everything but `reload` answers at once: it stands on the way of every request. */
export type Features = {
  /** Whether `SVC_PLUGINS` lists it, or lists nothing at all. */
  isRequested(feature: string): boolean;
  /** Whether nothing of it is served because its license is missing: a path of it then was never there. */
  isHidden(feature: string): boolean;
  /** Whether a tenant lacks it. */
  isWithheld(tenant: string, feature: string): boolean;
  /** Names that a tenant lacks, in order. */
  withheldFrom(tenant: string): readonly string[];
  /** What the console saved, as this process knows it. */
  saved(feature: FeatureName): FeatureConfiguration | undefined;
  status(): readonly FeatureStatus[];
  /** Says what this build holds: the whole table of routes. */
  declare(routes: readonly DeclaredRoute[]): void;
  /** Says that a feature could not start, or (undefined) that it did. */
  report(feature: FeatureName, problem: string | undefined): void;
  /** Reads anew what the console saved and what tenants lack. */
  reload(): Promise<void>;
};

export type DeclaredRoute = { readonly method: string; readonly path: string; readonly feature?: string };

export type FeaturesOptions = {
  readonly entitlements: Entitlements;
  readonly records: FeatureRecords;
  /** `SVC_PLUGINS`; undefined: every feature. */
  readonly requested: readonly FeatureName[] | undefined;
};

export function createFeatures({ entitlements, records, requested }: FeaturesOptions): Features {
  const wanted: ReadonlySet<string> = new Set(requested ?? FEATURE_NAMES);
  const licensed = new Map<string, Capability>(FEATURE_NAMES.flatMap((name) => {
    const { capability, licensedOnly } = declarationOf(name);
    return licensedOnly && capability ? [[name, capability] as const] : [];
  }));
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
    const known = { name, declaration: declarationOf(name), compiled: routes.has(name), entitled: !isHidden(name), requested: wanted.has(name), lastError, routes: routes.get(name) ?? [] };
    if (!known.compiled) return { ...known, phase: 'absent', reason: 'this build does not hold it' };
    if (!known.requested) return { ...known, phase: 'stopped', reason: 'SVC_PLUGINS does not list it' };
    if (!known.entitled) return { ...known, phase: 'unlicensed', reason: `it needs the capability ${licensed.get(name) ?? ''}` };
    return { ...known, phase: lastError === undefined ? 'running' : 'failed', reason: lastError };
  }

  return {
    isRequested: (feature) => wanted.has(feature),
    isHidden,
    isWithheld: (tenant, feature) => withheld.get(tenant)?.has(feature) === true,
    withheldFrom: (tenant) => [...(withheld.get(tenant) ?? [])],
    saved: (feature) => configurations.get(feature),
    status: () => FEATURE_NAMES.map(statusOf),
    declare(table) {
      const named = new Map<string, string[]>();
      for (const { method, path, feature } of table) {
        if (feature === undefined) continue;
        named.set(feature, [...(named.get(feature) ?? []), `${method} ${path}`]);
      }
      routes = named;
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
