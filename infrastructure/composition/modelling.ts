import type { CanvasLayoutDependencies } from '../../application/content/canvas-layout.ts';
import type { PresetDependencies } from '../../application/content/preset-dependencies.ts';
import type { RecoverDependencies } from '../../application/content/recover-field.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { entriesWithoutValue } from '../../projections/content/entries/entries-without-value.ts';
import { canvasLayoutQueries, savedPresetQueries } from '../../projections/content/modelling/queries.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { ownEndpointsOf } from './automation.ts';
import type { Content } from './content.ts';
import type { Stores } from './stores.ts';

export type ModellingOptions = {
  readonly stores: Stores;
  readonly settings: Settings;
  readonly vault: Vault;
  readonly entitlements: Entitlements;
  readonly content: Pick<Content, 'typeDependencies' | 'entryDependencies'>;
};

export type Modelling = {
  readonly presets: PresetDependencies;
  readonly canvas: CanvasLayoutDependencies;
  readonly recover: RecoverDependencies;
  close(): Promise<void>;
};

/** Puts together what modelling content takes beside the content types: presets, the canvas, values of removed fields. */
export function composeModelling({ stores, settings, vault, entitlements, content }: ModellingOptions): Modelling {
  const { database, eventStore } = stores;
  // No private network, whatever is opened to webhooks (spec 2, preset rules).
  const outbound = createOutbound({ ownEndpoints: ownEndpointsOf(settings) });
  return {
    presets: { eventStore, vault, outbound, entitlements, presets: savedPresetQueries(database), contentTypes: content.typeDependencies },
    canvas: { eventStore, entitlements, layouts: canvasLayoutQueries(database) },
    recover: { ...content.entryDependencies, withoutValue: entriesWithoutValue(database), waitFor: content.typeDependencies.waitFor },
    close: () => outbound.close(),
  };
}
