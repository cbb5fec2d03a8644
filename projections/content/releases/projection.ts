import { type ReleaseRecord, recordAfter } from '../../../domain/content/release-record.ts';
import { parseStream } from '../../../domain/stream.ts';
import type { Projection } from '../../engine/projection.ts';

type Row = ReleaseRecord & { readonly tenant_id: string };

/** Read model of releases, schema `rm_releases`. */
export const releasesProjection: Projection = {
  name: 'releases',
  version: 1,
  categories: ['release'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.releases (
        id uuid primary key, tenant_id text not null, name text not null, description text not null, status text not null, scheduled_at text, items json not null,
        refused json not null, created_at text not null, created_by json not null, updated_at text not null, published_at text
      );
      create index on ${schema}.releases (tenant_id, created_at, id);
      create index on ${schema}.releases (scheduled_at) where status in ('scheduled', 'publishing')`);
  },

  async apply(tx, { schema }, events) {
    const ids = new Map(events.map((event) => [event.stream, idOf(event.stream)]));
    const stored = await tx.query<Row>(`select * from ${schema}.releases where id = any($1::uuid[])`, [
      [...ids.values()],
    ]);
    const rows = new Map<string, Row | undefined>(stored.map((row) => [row.id, row]));
    for (const event of events) {
      const id = ids.get(event.stream) ?? '';
      const record = recordAfter(rows.get(id), id, event);
      rows.set(id, record && { ...record, tenant_id: event.metadata.tenant });
    }
    const kept = [...rows.values()].filter((row) => row !== undefined);
    await tx.query(`delete from ${schema}.releases where id = any($1::uuid[])`, [[...rows.keys()]]);
    if (kept.length > 0)
      await tx.query(
        `insert into ${schema}.releases select * from json_populate_recordset(null::${schema}.releases, $1)`,
        [JSON.stringify(kept)],
      );
  },

  tables: () => Promise.resolve([{ table: 'releases' }]),
};

function idOf(stream: string): string {
  const parts = parseStream(stream);
  if (parts?.category !== 'release') throw new RangeError(`not the stream of a release: ${stream}`);
  return parts.id;
}
