import { canvasLayoutRoutes } from '../../../api/admin/content-types/canvas-layout-routes.ts';
import { presetRoutes } from '../../../api/admin/content-types/preset-routes.ts';
import { recoverFieldRoutes } from '../../../api/admin/content-types/recover-field-routes.ts';
import type { Route } from '../../../api/http/route.ts';
import { createEntriesWithoutValue } from '../../../projections/content/entries/entries-without-value.ts';
import { createCanvasLayoutQueries, createSavedPresetQueries } from '../../../projections/content/modelling/queries.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { ownEndpointsOf } from '../platform/own-endpoints.ts';
import type { Platform } from '../platform/platform.ts';
import type { OpenContent } from './open-content.ts';

export type ModellingPlatform = Pick<Platform, 'database' | 'eventStore' | 'settings' | 'vault' | 'entitlements'>;

export type ModellingNeeds = Pick<OpenContent, 'typeDependencies' | 'entryDependencies'>;

export type OpenModelling = { readonly routes: readonly Route[]; close(): Promise<void> };

/** Opens the routes for modelling content types: presets, the canvas, recovering the values of removed fields. */
export function openModelling(
  { database, eventStore, settings, vault, entitlements }: ModellingPlatform,
  { typeDependencies, entryDependencies }: ModellingNeeds,
): OpenModelling {
  // Presets are fetched from public addresses only; networks that webhooks may reach do not count here.
  const outbound = openOutbound({ ownEndpoints: ownEndpointsOf(settings) });
  return {
    routes: [
      ...presetRoutes({
        eventStore,
        vault,
        outbound,
        entitlements,
        presets: createSavedPresetQueries({ database }),
        contentTypes: typeDependencies,
      }),
      ...canvasLayoutRoutes({ eventStore, entitlements, layouts: createCanvasLayoutQueries({ database }) }),
      ...recoverFieldRoutes({
        ...entryDependencies,
        withoutValue: createEntriesWithoutValue({ database }),
        progress: typeDependencies.progress,
      }),
    ],
    close: () => outbound.close(),
  };
}
