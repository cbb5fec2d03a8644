import type { Projection } from '../engine/projection.ts';
import { projectFeatureConfigurations } from './feature-configuration-rows.ts';
import { projectWithheldFeatures } from './withheld-features-rows.ts';

/**
 * The read model of the installation's features, schema `rm_platform`: saved configurations, and the features withheld
 * from each tenant. Other events of the category `settings` are ignored.
 */
export const platformProjection: Projection = {
  name: 'platform',
  version: 1,
  categories: ['settings'],

  async create(tx, { schema }) {
    await tx.query(
      `create table ${schema}.feature_configurations (feature text primary key, "values" jsonb not null,
       secrets jsonb not null)`,
    );
    await tx.query(`create table ${schema}.withheld_features (tenant_id text primary key, withheld jsonb not null)`);
  },

  async apply(tx, target, events) {
    await projectFeatureConfigurations(tx, target, events);
    await projectWithheldFeatures(tx, target, events);
  },

  tables: () => Promise.resolve([{ table: 'feature_configurations' }, { table: 'withheld_features' }]),
};
