import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/**
 * Events of a feature's settings, stream `settings-default.feature.<feature>`. The category `settings` also holds the
 * streams of other aggregates.
 */
export type FeatureConfigurationEvent =
  /** `values` and `secrets` (sealed) are the settings that changed; those in `removed` have their default again. */
  | DomainEvent<
      'FeatureConfigured',
      {
        readonly feature: string;
        readonly values: JsonObject;
        readonly secrets: JsonObject;
        readonly removed: readonly string[];
      }
    >
  /** All settings have their defaults again. */
  | DomainEvent<'FeatureConfigurationReset', { readonly feature: string }>;

export const featureConfigurationEvents = eventParser<FeatureConfigurationEvent>('feature configuration', [
  'FeatureConfigured',
  'FeatureConfigurationReset',
]);
