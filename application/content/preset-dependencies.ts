import { streamName } from '../../domain/stream.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Outbound } from '../ports/outbound.ts';
import type { SavedPresets } from '../ports/saved-presets.ts';
import type { Vault } from '../ports/vault.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';

/** Dependencies of the use cases of presets. */
export type PresetDependencies = {
  readonly eventStore: EventStore;
  readonly presets: SavedPresets;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  /** Reaches public addresses only, also when webhooks may reach private ones. */
  readonly outbound: Pick<Outbound, 'send'>;
  readonly entitlements: Entitlements;
  readonly contentTypes: ContentTypeDependencies;
};

/** Name of the read model of saved presets and canvas layouts. */
export const MODELLING = 'modelling';

export function presetStream(tenant: string, id: string): string {
  return streamName({ category: 'settings', tenant, id: `preset.${id}` });
}

/** Purpose that the sealed source address is bound to: it can be opened for this preset of this tenant only. */
export function sourcePurpose(tenant: string, id: string): string {
  return `preset/${tenant}/${id}/source_url`;
}
