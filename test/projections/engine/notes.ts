import type { RecordedEvent } from '../../../domain/event.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import type { TestEvent } from '../../support/open-log.ts';

/** An event that sets the title of the n-th note. */
export function note(n: number, title: string, tenant = 'default'): TestEvent {
  return { stream: `entry-${tenant}.${String(n)}`, type: 'NoteTitled', data: { note: n, title }, tenant };
}

export type NotesOptions = {
  readonly version?: number;
  /** Called before each batch is applied. */
  readonly before?: (events: readonly RecordedEvent[]) => Promise<void> | void;
  /** Converts a title before it is stored. */
  readonly render?: (title: string) => string;
};

/**
 * A small read model of the last title and the number of events of each note, so that a repeated or lost effect is
 * visible.
 */
export function notes({ version = 1, before, render = (title) => title }: NotesOptions = {}): Projection {
  return {
    name: 'notes',
    version,
    categories: ['entry'],
    async create(tx, { schema }) {
      await tx.query(
        `create table ${schema}.notes (tenant_id text, note integer, title text, changes integer, primary key (tenant_id, note))`,
      );
      await tx.query(`create table ${schema}.tenants (tenant_id text primary key, changes integer)`);
    },
    async apply(tx, { schema }, events) {
      await before?.(events);
      const rows = new Map<string, { tenant: string; note: number; title: string; changes: number }>();
      const tenants = new Map<string, number>();
      for (const {
        data,
        metadata: { tenant },
      } of events) {
        const number = Number(data['note']);
        const title = typeof data['title'] === 'string' ? data['title'] : '';
        if (title === 'poison') throw new Error(`note ${String(number)} can't be applied`);
        if (title === 'forbidden')
          throw Object.assign(new Error('permission denied'), { severity: 'ERROR', code: '42501' });
        const key = `${tenant}.${String(number)}`;
        rows.set(key, { tenant, note: number, title: render(title), changes: (rows.get(key)?.changes ?? 0) + 1 });
        tenants.set(tenant, (tenants.get(tenant) ?? 0) + 1);
      }
      const list = [...rows.values()];
      await tx.query(
        `insert into ${schema}.notes as n (tenant_id, note, title, changes) select * from unnest($1::text[], $2::int[], $3::text[], $4::int[])
         on conflict (tenant_id, note) do update set title = excluded.title, changes = n.changes + excluded.changes`,
        [
          list.map((row) => row.tenant),
          list.map((row) => row.note),
          list.map((row) => row.title),
          list.map((row) => row.changes),
        ],
      );
      await tx.query(
        `insert into ${schema}.tenants as t (tenant_id, changes) select * from unnest($1::text[], $2::int[])
         on conflict (tenant_id) do update set changes = t.changes + excluded.changes`,
        [[...tenants.keys()], [...tenants.values()]],
      );
    },
    tables: () => Promise.resolve([{ table: 'notes' }, { table: 'tenants' }]),
  };
}
