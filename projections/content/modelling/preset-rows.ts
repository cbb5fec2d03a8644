import type { SavedPreset } from '../../../application/ports/saved-presets.ts';
import { presetEvents } from '../../../domain/content/preset-events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/** A row of the table `saved_presets`. */
type PresetRow = SavedPreset & { readonly tenant_id: string };
type PresetKey = Pick<PresetRow, 'tenant_id' | 'id'>;

/** Applies the events of presets. Other events are ignored. */
export async function projectPresets(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void> {
  const saved = new Map<string, PresetRow>();
  const removed = new Map<string, PresetKey>();
  for (const event of events.filter(presetEvents.includes)) {
    const { tenant, occurred_at: at } = event.metadata;
    const id = event.type === 'PresetSaved' ? event.data.preset.id : event.data.id;
    const key = `${tenant}/${id}`;
    saved.delete(key);
    removed.delete(key);
    if (event.type === 'PresetDeleted') removed.set(key, { tenant_id: tenant, id });
    else {
      const { preset, source_url } = event.data;
      saved.set(key, { ...preset, tenant_id: tenant, source_url, updated_at: at });
    }
  }
  await deletePresets(tx, target, [...removed.values()]);
  await savePresets(tx, target, [...saved.values()]);
}

async function deletePresets(tx: Transaction, { schema }: Target, keys: readonly PresetKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `delete from ${schema}.saved_presets p using json_to_recordset($1::json) as r(tenant_id text, id text)
     where p.tenant_id = r.tenant_id and p.id = r.id`,
    [JSON.stringify(keys)],
  );
}

async function savePresets(tx: Transaction, { schema }: Target, rows: readonly PresetRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.saved_presets (tenant_id, id, name, description, schemas, source_url, updated_at)
     select tenant_id, id, name, description, schemas, source_url, updated_at
     from json_to_recordset($1::json) as r(tenant_id text, id text, name text, description text, schemas json,
       source_url json, updated_at text)
     on conflict (tenant_id, id) do update
       set name = excluded.name, description = excluded.description, schemas = excluded.schemas,
       source_url = excluded.source_url, updated_at = excluded.updated_at`,
    [JSON.stringify(rows)],
  );
}
