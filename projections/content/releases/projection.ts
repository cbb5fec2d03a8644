import { type ReleaseRecord, recordAfter } from '../../../domain/content/release-record.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { partsOf } from '../../../domain/stream.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../../engine/projection.ts';

type Row = ReleaseRecord & { readonly tenant_id: string };

/** Read model of releases, schema `rm_releases`. */
export const releasesProjection: Projection = {
  name: 'releases',
  version: 1,
  categories: ['release'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.releases (
        id uuid primary key, tenant_id text not null, name text not null, description text not null,
        status text not null, scheduled_at text, items json not null, refused json not null,
        created_at text not null, created_by json not null, updated_at text not null, published_at text
      );
      create index on ${schema}.releases (tenant_id, created_at, id);
      create index on ${schema}.releases (scheduled_at) where status in ('scheduled', 'publishing')`);
  },

  apply: projectReleases,

  tables: () => Promise.resolve([{ table: 'releases' }]),
};

async function projectReleases(tx: Transaction, { schema }: Target, events: readonly RecordedEvent[]): Promise<void> {
  const ids = new Map(events.map((event) => [event.stream, partsOf(event.stream, 'release').id]));
  const stored = await tx.query<Row>(`select * from ${schema}.releases where id = any($1::uuid[])`, [
    [...ids.values()],
  ]);
  const rows = new Map<string, Row | undefined>(stored.map((row) => [row.id, row]));
  for (const event of events) {
    const id = ids.get(event.stream) ?? '';
    const record = recordAfter(rows.get(id), id, event);
    rows.set(id, record && { ...record, tenant_id: event.metadata.tenant });
  }
  const changed = [...rows.values()].filter((row) => row !== undefined);
  const deleted = [...rows].filter(([, row]) => row === undefined).map(([id]) => id);
  if (deleted.length > 0) await tx.query(`delete from ${schema}.releases where id = any($1::uuid[])`, [deleted]);
  if (changed.length === 0) return;
  await tx.query(
    `insert into ${schema}.releases select * from json_populate_recordset(null::${schema}.releases, $1)
     on conflict (id) do update
       set name = excluded.name, description = excluded.description, status = excluded.status,
       scheduled_at = excluded.scheduled_at, items = excluded.items, refused = excluded.refused,
       updated_at = excluded.updated_at, published_at = excluded.published_at`,
    [JSON.stringify(changed)],
  );
}
