import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';

/** What the read model knows of the install's features; few rows, read whole. */
export type FeatureRecords = {
  /** By feature; features for which nothing was saved are absent. */
  configurations(): Promise<ReadonlyMap<string, FeatureConfiguration>>;
  /** By tenant; tenants that lack nothing are absent. */
  withheld(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
};
