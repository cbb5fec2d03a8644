import type { SealedValue } from '../../../domain/automation/webhook.ts';
import type { CanvasPositions } from '../../../domain/content/canvas-layout.ts';
import type { Preset } from '../../../domain/content/preset.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';

type SavedPresetRow = Preset & { readonly source_url: SealedValue | null; readonly updated_at: string };

const SELECT = 'select id, name, description, schemas, source_url, updated_at from rm_modelling.saved_presets where tenant_id = $1';

/** Queries of saved presets, bound to a database (port `SavedPresets`). */
export function savedPresetQueries(database: Queryable) {
  return {
    list: (tenant: string): Promise<readonly SavedPresetRow[]> => database.query<SavedPresetRow>(`${SELECT} order by id`, [tenant]),
    one: async (tenant: string, id: string): Promise<SavedPresetRow | undefined> => (await database.query<SavedPresetRow>(`${SELECT} and id = $2`, [tenant, id]))[0],
  };
}

/** Queries of canvas layouts, bound to a database (port `CanvasLayouts`). */
export function canvasLayoutQueries(database: Queryable) {
  return {
    async load(tenant: string): Promise<{ readonly positions: CanvasPositions; readonly revision: number }> {
      const [row] = await database.query<{ positions: CanvasPositions; revision: number }>('select positions, revision from rm_modelling.canvas_layouts where tenant_id = $1', [tenant]);
      return row ?? { positions: {}, revision: -1 };
    },
  };
}
