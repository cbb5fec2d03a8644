import type { Preset } from '../../domain/content/preset-events.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';

/** A preset saved by the tenant, in the read model. */
export type SavedPreset = Preset & {
  /** The URL it was fetched from, sealed; null for an uploaded document. */
  readonly source_url: SealedValue | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly updated_at: string;
};

/** Queries of the tenant's saved presets. */
export type SavedPresets = {
  /** All presets, ordered by id. */
  list(tenant: string): Promise<readonly SavedPreset[]>;
  one(tenant: string, id: string): Promise<SavedPreset | undefined>;
};
