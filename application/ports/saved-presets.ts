import type { SealedValue } from '../../domain/automation/webhook.ts';
import type { Preset } from '../../domain/content/preset.ts';

/** A preset of the tenant's own as the read model holds it. */
export type SavedPreset = Preset & {
  /** Where it was fetched from, sealed; null for a document that was sent. */
  readonly source_url: SealedValue | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly updated_at: string;
};

/** The tenant's saved presets. */
export type SavedPresets = {
  /** By id. */
  list(tenant: string): Promise<readonly SavedPreset[]>;
  one(tenant: string, id: string): Promise<SavedPreset | undefined>;
};
