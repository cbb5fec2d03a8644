import type { RecordedEvent } from '../../domain/event.ts';
import { featureConfigurationEvents } from '../../domain/platform/feature-configuration-events.ts';
import { type FeatureConfiguration, featureConfigurationDecider } from '../../domain/platform/feature-configuration.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `feature_configurations`. */
type ConfigurationRow = FeatureConfiguration & { readonly feature: string };

/** Applies the events of feature configurations. Other events are ignored. */
export async function projectFeatureConfigurations(
  tx: Transaction,
  { schema }: Target,
  events: readonly RecordedEvent[],
): Promise<void> {
  const changes = events.filter(featureConfigurationEvents.includes);
  if (changes.length === 0) return;
  const names = [...new Set(changes.map(({ data }) => data.feature))];
  const stored = await tx.query<ConfigurationRow>(
    `select feature, "values", secrets from ${schema}.feature_configurations where feature = any($1)`,
    [names],
  );
  const rows = new Map<string, FeatureConfiguration>(
    stored.map(({ feature, values, secrets }) => [feature, { values, secrets }]),
  );
  for (const change of changes) {
    const { feature } = change.data;
    rows.set(
      feature,
      featureConfigurationDecider.evolve(rows.get(feature) ?? featureConfigurationDecider.initialState(), change),
    );
  }
  await tx.query(
    `insert into ${schema}.feature_configurations (feature, "values", secrets)
     select feature, "values", secrets
     from jsonb_to_recordset($1::jsonb) as r(feature text, "values" jsonb, secrets jsonb)
     on conflict (feature) do update set "values" = excluded."values", secrets = excluded.secrets`,
    [JSON.stringify([...rows].map(([feature, row]) => ({ feature, ...row })))],
  );
}
