import type { RecordedEvent } from '../../domain/event.ts';
import { featureConfigurationEvents } from '../../domain/platform/feature-configuration-events.ts';
import { type FeatureConfiguration, featureConfigurationDecider } from '../../domain/platform/feature-configuration.ts';
import { withheldFeaturesEvents } from '../../domain/platform/withheld-features-events.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';

type ConfigurationRow = FeatureConfiguration & { readonly feature: string };

/**
 * The read model of the installation's features, schema `rm_platform`: saved configurations, and the features withheld from
 * each tenant. Other events of the category `settings` are ignored.
 */
export const platformProjection: Projection = {
  name: 'platform',
  version: 1,
  categories: ['settings'],

  async create(tx, { schema }) {
    await tx.query(
      `create table ${schema}.feature_configurations (feature text primary key, "values" jsonb not null, secrets jsonb not null)`,
    );
    await tx.query(`create table ${schema}.withheld_features (tenant_id text primary key, withheld jsonb not null)`);
  },

  async apply(tx, target, events) {
    await projectConfigurations(tx, target, events);
    await projectWithheld(tx, target, events);
  },

  tables: () => Promise.resolve([{ table: 'feature_configurations' }, { table: 'withheld_features' }]),
};

async function projectConfigurations(
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
     select feature, "values", secrets from jsonb_to_recordset($1::jsonb) as r(feature text, "values" jsonb, secrets jsonb)
     on conflict (feature) do update set "values" = excluded."values", secrets = excluded.secrets`,
    [JSON.stringify([...rows].map(([feature, row]) => ({ feature, ...row })))],
  );
}

async function projectWithheld(tx: Transaction, { schema }: Target, events: readonly RecordedEvent[]): Promise<void> {
  const rows = new Map<string, readonly string[]>();
  for (const event of events) {
    if (withheldFeaturesEvents.includes(event)) rows.set(event.metadata.tenant, event.data.withheld);
  }
  const [emptied, kept] = [
    [...rows].filter(([, withheld]) => withheld.length === 0),
    [...rows].filter(([, withheld]) => withheld.length > 0),
  ];
  if (emptied.length > 0)
    await tx.query(`delete from ${schema}.withheld_features where tenant_id = any($1)`, [
      emptied.map(([tenant]) => tenant),
    ]);
  if (kept.length === 0) return;
  await tx.query(
    `insert into ${schema}.withheld_features (tenant_id, withheld)
     select tenant_id, withheld from jsonb_to_recordset($1::jsonb) as r(tenant_id text, withheld jsonb)
     on conflict (tenant_id) do update set withheld = excluded.withheld`,
    [JSON.stringify(kept.map(([tenant_id, withheld]) => ({ tenant_id, withheld })))],
  );
}
