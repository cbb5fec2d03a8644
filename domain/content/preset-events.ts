import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { SealedValue } from '../sealed-value.ts';

/** A set of related content types that one request creates. */
export type Preset = {
  /** Lower-case slug. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Definitions as `POST /api/admin/schemas` accepts them. A relation names its own type or one listed before it. */
  readonly schemas: readonly JsonObject[];
};

/** Events of a saved preset, stream `settings-<tenant>.preset.<id>`. `PresetSaved` creates and replaces it. */
export type PresetEvent =
  /**
   * The source address is sealed, because it may hold a credential; null for a document that was sent in the request.
   */
  | DomainEvent<'PresetSaved', { readonly preset: Preset; readonly source_url: SealedValue | null }>
  | DomainEvent<'PresetDeleted', { readonly id: string }>;

export const presetEvents = eventParser<PresetEvent>('preset', ['PresetSaved', 'PresetDeleted']);
