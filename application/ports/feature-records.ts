import type { FeatureConfiguration } from '../../domain/platform/feature-configuration.ts';

/** The state of the installation's features in the read model. Few rows, read as a whole. */
export type FeatureRecords = {
  /** By feature; features without a saved configuration are absent. */
  configurations(): Promise<ReadonlyMap<string, FeatureConfiguration>>;
  /** The features withheld from each tenant; tenants without any are absent. */
  withheld(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
};
