import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';

/** Queries of the read model `platform`; implements the port `FeatureRecords`. */
export function featureQueries(database: Queryable) {
  return {
    /** By feature; features without a saved configuration are absent. */
    configurations: async (): Promise<ReadonlyMap<string, FeatureConfiguration>> => {
      const rows = await database.query<FeatureConfiguration & { readonly feature: string }>(
        'select feature, "values", secrets from rm_platform.feature_configurations',
        [],
        'feature-configurations',
      );
      return new Map(rows.map(({ feature, values, secrets }) => [feature, { values, secrets }]));
    },
    /** The features withheld from each tenant; tenants without any are absent. */
    withheld: async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
      const rows = await database.query<{ readonly tenant_id: string; readonly withheld: readonly string[] }>(
        'select tenant_id, withheld from rm_platform.withheld_features',
        [],
        'withheld-features',
      );
      return new Map(rows.map(({ tenant_id, withheld }) => [tenant_id, new Set(withheld)]));
    },
  };
}
