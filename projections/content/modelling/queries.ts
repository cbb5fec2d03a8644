import type { CanvasLayouts } from '../../../application/ports/canvas-layouts.ts';
import type { SavedPreset, SavedPresets } from '../../../application/ports/saved-presets.ts';
import type { CanvasPositions } from '../../../domain/content/canvas-layout-events.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';

const SELECT =
  'select id, name, description, schemas, source_url, updated_at from rm_modelling.saved_presets where tenant_id = $1';

/** Queries of saved presets, bound to a database (port `SavedPresets`). */
export function createSavedPresetQueries({ database }: { readonly database: Database }): SavedPresets {
  return {
    list: (tenant) => database.query<SavedPreset>(`${SELECT} order by id`, [tenant]),
    one: async (tenant, id) => (await database.query<SavedPreset>(`${SELECT} and id = $2`, [tenant, id]))[0],
  };
}

/** Queries of canvas layouts, bound to a database (port `CanvasLayouts`). */
export function createCanvasLayoutQueries({ database }: { readonly database: Database }): CanvasLayouts {
  return {
    async load(tenant) {
      const [row] = await database.query<{ positions: CanvasPositions; revision: number }>(
        'select positions, revision from rm_modelling.canvas_layouts where tenant_id = $1',
        [tenant],
      );
      return row ?? { positions: {}, revision: -1 };
    },
  };
}
