import type { FeatureRecords } from '../../application/ports/feature-records.ts';
import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';

/** Queries of the read model `platform`. */
export function createFeatureQueries({ database }: { readonly database: Database }): FeatureRecords {
  return {
    configurations: async () => {
      const rows = await database.query<FeatureConfiguration & { readonly feature: string }>(
        'select feature, "values", secrets from rm_platform.feature_configurations',
        [],
        'feature-configurations',
      );
      return new Map(rows.map(({ feature, values, secrets }) => [feature, { values, secrets }]));
    },
    withheld: async () => {
      const rows = await database.query<{ readonly tenant_id: string; readonly withheld: readonly string[] }>(
        'select tenant_id, withheld from rm_platform.withheld_features',
        [],
        'withheld-features',
      );
      return new Map(rows.map(({ tenant_id, withheld }) => [tenant_id, new Set(withheld)]));
    },
  };
}
