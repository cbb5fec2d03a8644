import type { Projection } from '../../engine/projection.ts';
import { projectCanvasLayouts } from './canvas-layout-rows.ts';
import { projectPresets } from './preset-rows.ts';

/** Read model of saved presets and canvas layouts, schema `rm_modelling`. */
export const modellingProjection: Projection = {
  name: 'modelling',
  version: 1,
  categories: ['settings'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.saved_presets (
        tenant_id text not null, id text not null, name text not null, description text not null, schemas json not null,
        source_url json, updated_at text not null, primary key (tenant_id, id)
      )`);
    await tx.query(
      `create table ${schema}.canvas_layouts (tenant_id text primary key, positions json not null,
       revision int8 not null)`,
    );
  },

  async apply(tx, target, events) {
    await projectPresets(tx, target, events);
    await projectCanvasLayouts(tx, target, events);
  },

  tables: () => Promise.resolve([{ table: 'saved_presets' }, { table: 'canvas_layouts' }]),
};
