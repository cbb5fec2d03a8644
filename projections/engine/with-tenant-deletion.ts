import type { RecordedEvent } from '../../domain/event.ts';
import { tenantEvents } from '../../domain/identity/tenant-events.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from './projection.ts';
import { splitAt } from './split-at.ts';

export type TenantDeletionOptions = {
  /** Deletes the rows of a tenant. Default: from every table of the projection, by the column `tenant_id`. */
  readonly deleteRows?: (
    tx: Transaction,
    target: Target,
    deleted: { readonly deletion: RecordedEvent; readonly slug: string },
  ) => Promise<void>;
  /**
   * Categories whose events have no effect once the tenant's rows are deleted: they are passed to the projection
   * unchecked.
   */
  readonly unaffected?: readonly string[];
};

/** The leading underscore keeps it apart from the tables of content types. */
const TABLE = '_deleted_tenants';

/**
 * Makes a projection delete the rows of a tenant at its deletion and ignore later events of that tenant, which come
 * from writes that raced with the deletion. The wrapped projection receives no events of the category `tenant`.
 */
export function withTenantDeletion(
  projection: Projection,
  { deleteRows = deleteFromEveryTable(projection), unaffected = [] }: TenantDeletionOptions = {},
): Projection {
  return {
    ...projection,
    categories: [...projection.categories, 'tenant'],
    async create(tx, target) {
      await projection.create(tx, target);
      await tx.query(
        `create table ${target.schema}.${TABLE} (tenant_id text not null default 'default', slug text primary key)`,
      );
    },
    async apply(tx, target, events) {
      for (const run of runsOf(events)) {
        const [first] = run;
        const slug = first && deletedSlug(first);
        if (first && slug !== undefined) {
          await deleteRows(tx, target, { deletion: first, slug });
          await tx.query(`insert into ${target.schema}.${TABLE} (slug) values ($1) on conflict do nothing`, [slug]);
          continue;
        }
        const remaining = run.every(({ stream }) => unaffected.includes(categoryOf(stream)))
          ? run
          : await withoutDeleted(tx, target, run);
        if (remaining.length > 0) await projection.apply(tx, target, remaining);
      }
    },
    tables: async (tx, target) => [...(await projection.tables(tx, target)), { table: TABLE, canonical: 't.slug' }],
  };
}

/** Splits the events into runs, each deletion of a tenant on its own; drops other events of the category `tenant`. */
function runsOf(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  if (!events.some(isTenantEvent)) return [events];
  const relevant = events.filter((event) => !isTenantEvent(event) || deletedSlug(event) !== undefined);
  return splitAt(relevant, isTenantEvent);
}

function isTenantEvent({ stream }: RecordedEvent): boolean {
  return categoryOf(stream) === 'tenant';
}

function deletedSlug(event: RecordedEvent): string | undefined {
  if (!isTenantEvent(event)) return undefined;
  const parsed = tenantEvents.parse(event);
  return parsed.type === 'TenantDeleted' ? parsed.data.slug : undefined;
}

async function withoutDeleted(
  tx: Transaction,
  { schema }: Target,
  events: readonly RecordedEvent[],
): Promise<readonly RecordedEvent[]> {
  const tenants = [...new Set(events.map(({ metadata }) => metadata.tenant))];
  const deleted = await tx.query<{ slug: string }>(`select slug from ${schema}.${TABLE} where slug = any($1::text[])`, [
    tenants,
  ]);
  return deleted.length === 0
    ? events
    : events.filter(({ metadata }) => !deleted.some(({ slug }) => slug === metadata.tenant));
}

function deleteFromEveryTable(projection: Projection): NonNullable<TenantDeletionOptions['deleteRows']> {
  return async (tx, target, { slug }) => {
    for (const { table } of await projection.tables(tx, target))
      await tx.query(`delete from ${target.schema}.${table} where tenant_id = $1`, [slug]);
  };
}
