import {
  type CanvasLayoutEvent,
  type CanvasPositions,
  canvasLayoutEvents,
} from '../../../domain/content/canvas-layout-events.ts';
import { canvasLayoutDecider } from '../../../domain/content/canvas-layout.ts';
import { type PresetEvent, presetEvents } from '../../../domain/content/preset-events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../../engine/projection.ts';

/** Read model of saved presets and canvas layouts, schema `rm_modelling`. */
export const modellingProjection: Projection = {
  name: 'modelling',
  version: 1,
  categories: ['settings'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.saved_presets (
        tenant_id text not null, id text not null, name text not null, description text not null, schemas json not null, source_url json, updated_at text not null,
        primary key (tenant_id, id)
      )`);
    await tx.query(
      `create table ${schema}.canvas_layouts (tenant_id text primary key, positions json not null, revision int8 not null)`,
    );
  },

  async apply(tx, target, events) {
    for (const event of events) {
      if (presetEvents.includes(event)) await projectPreset(tx, target, event);
      else if (canvasLayoutEvents.includes(event)) await projectLayout(tx, target, event);
    }
  },

  tables: () => Promise.resolve([{ table: 'saved_presets' }, { table: 'canvas_layouts' }]),
};

async function projectPreset(tx: Transaction, { schema }: Target, event: RecordedEvent & PresetEvent): Promise<void> {
  const { tenant, occurred_at: at } = event.metadata;
  if (event.type === 'PresetDeleted') {
    await tx.query(`delete from ${schema}.saved_presets where tenant_id = $1 and id = $2`, [tenant, event.data.id]);
    return;
  }
  const {
    preset: { id, name, description, schemas },
    source_url: source,
  } = event.data;
  await tx.query(
    `insert into ${schema}.saved_presets (tenant_id, id, name, description, schemas, source_url, updated_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (tenant_id, id) do update set name = excluded.name, description = excluded.description, schemas = excluded.schemas,
       source_url = excluded.source_url, updated_at = excluded.updated_at`,
    [tenant, id, name, description, JSON.stringify(schemas), source === null ? null : JSON.stringify(source), at],
  );
}

async function projectLayout(
  tx: Transaction,
  { schema }: Target,
  event: RecordedEvent & CanvasLayoutEvent,
): Promise<void> {
  const { tenant } = event.metadata;
  const [row] = await tx.query<{ positions: CanvasPositions }>(
    `select positions from ${schema}.canvas_layouts where tenant_id = $1`,
    [tenant],
  );
  const positions = canvasLayoutDecider.evolve(row?.positions ?? canvasLayoutDecider.initialState(), event);
  await tx.query(
    `insert into ${schema}.canvas_layouts (tenant_id, positions, revision) values ($1, $2, $3)
     on conflict (tenant_id) do update set positions = excluded.positions, revision = excluded.revision`,
    [tenant, JSON.stringify(positions), event.revision],
  );
}
