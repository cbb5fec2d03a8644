import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';

/**
 * Event of stream `settings-<tenant>.features`. `withheld` is the whole list, sorted: features that the tenant may not
 * use from this event on. The category `settings` also holds the streams of other aggregates.
 */
export type WithheldFeaturesEvent = DomainEvent<'FeaturesWithheld', { readonly withheld: readonly string[] }>;

export const withheldFeaturesEvents = eventParser<WithheldFeaturesEvent>('withheld features', ['FeaturesWithheld']);
