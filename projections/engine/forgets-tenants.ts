import type { RecordedEvent } from '../../domain/event.ts';
import { parseTenantEvent } from '../../domain/identity/tenant.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from './projection.ts';

export type ForgetsTenantsOptions = {
  /** Takes the rows of a tenant away. Default: out of every table of the projection, by its column `tenant_id`. */
  readonly forget?: (tx: Transaction, target: Target, deletion: RecordedEvent, slug: string) => Promise<void>;
  /** Categories whose events find nothing to change once the tenant's rows are gone: they are passed on without a look. */
  readonly unaffected?: readonly string[];
};

/** No content type has such a name. */
const TABLE = '_deleted_tenants';

/**
 * Lets a read model drop the rows of a tenant at its deletion, and ignore what a write that raced with the deletion still brings afterwards
 * (spec 4 A, tenants). The projection itself sees no event of the category `tenant`.
 */
export function forgetsTenants(projection: Projection, { forget = deleteRows(projection), unaffected = [] }: ForgetsTenantsOptions = {}): Projection {
  return {
    ...projection,
    categories: [...projection.categories, 'tenant'],
    async create(tx, target) {
      await projection.create(tx, target);
      await tx.query(`create table ${target.schema}.${TABLE} (tenant_id text not null default 'default', slug text primary key)`);
    },
    async apply(tx, target, events) {
      for (const run of splitRuns(events)) {
        const [first] = run;
        const slug = first && deletedSlug(first);
        if (first && slug !== undefined) {
          await forget(tx, target, first, slug);
          await tx.query(`insert into ${target.schema}.${TABLE} (slug) values ($1) on conflict do nothing`, [slug]);
          continue;
        }
        const alive = run.every(({ stream }) => unaffected.includes(categoryOf(stream))) ? run : await withoutDeleted(tx, target, run);
        if (alive.length > 0) await projection.apply(tx, target, alive);
      }
    },
    tables: async (tx, target) => [...(await projection.tables(tx, target)), { table: TABLE, canonical: 't.slug' }],
  };
}

/** Runs cut at every deletion of a tenant, which stands alone; other events of tenants are left out. */
function splitRuns(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  if (events.every(({ stream }) => categoryOf(stream) !== 'tenant')) return [events];
  const runs: RecordedEvent[][] = [];
  let open: RecordedEvent[] | undefined;
  for (const event of events) {
    if (deletedSlug(event) !== undefined) {
      runs.push([event]);
      open = undefined;
    } else if (categoryOf(event.stream) === 'tenant') continue;
    else if (open) open.push(event);
    else runs.push((open = [event]));
  }
  return runs;
}

function deletedSlug(event: RecordedEvent): string | undefined {
  if (categoryOf(event.stream) !== 'tenant') return undefined;
  const parsed = parseTenantEvent(event);
  return parsed.type === 'TenantDeleted' ? parsed.data.slug : undefined;
}

async function withoutDeleted(tx: Transaction, { schema }: Target, events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
  const tenants = [...new Set(events.map(({ metadata }) => metadata.tenant))];
  const gone = await tx.query<{ slug: string }>(`select slug from ${schema}.${TABLE} where slug = any($1::text[])`, [tenants]);
  return gone.length === 0 ? events : events.filter(({ metadata }) => !gone.some(({ slug }) => slug === metadata.tenant));
}

function deleteRows(projection: Projection): NonNullable<ForgetsTenantsOptions['forget']> {
  return async (tx, target, _deletion, slug) => {
    for (const { table } of await projection.tables(tx, target)) await tx.query(`delete from ${target.schema}.${table} where tenant_id = $1`, [slug]);
  };
}
