import type { RecordedEvent } from '../../domain/event.ts';
import type { StreamParts } from '../../domain/stream.ts';
import { categoryOf, parseStream } from '../../domain/stream.ts';
import { changesCredentials } from '../../domain/identity/user-events.ts';
import type { Projection } from '../engine/projection.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import { accessRuleKeyOf, evolveAccessRule, loadAccessRules, saveAccessRules } from './access-rule-rows.ts';
import { evolveAdminToken, loadAdminTokens, saveAdminTokens } from './admin-token-rows.ts';
import { evolveApiKey, loadApiKeys, saveApiKeys } from './api-key-rows.ts';
import { TABLES, createTables } from './tables.ts';
import { deleteTenant, evolveTenant, loadDeletedTenants, loadTenants, saveTenantChanges, saveTenants } from './tenant-rows.ts';
import { evolveUser, loadUsers, saveUsers } from './user-rows.ts';

/** The identity read model: tenants and their access rules, users, their memberships, API keys, admin tokens (spec 5, rule 6). */
export const identityProjection: Projection = {
  name: 'identity',
  version: 3,
  categories: ['user', 'api_key', 'admin_token', 'tenant', 'access_rule'],
  create: createTables,
  async apply(tx, { schema }, events) {
    const deleted = await loadDeletedTenants(tx, schema);
    const changed = new Map<string, string>();
    for (const run of splitRuns(events)) {
      const alive = run.filter((event) => !deleted.has(tenantOf(event)));
      for (const event of alive) if (['tenant', 'access_rule'].includes(categoryOf(event.stream))) changed.set(tenantOf(event), event.position);
      const [first] = alive;
      if (first?.type === 'TenantDeleted') {
        await deleteTenant(tx, schema, tenantOf(first));
        deleted.add(tenantOf(first));
      } else await applyRun(tx, schema, alive, deleted);
    }
    await saveTenantChanges(tx, schema, changed);
    const last = events.findLast(changesCredentials);
    if (!last) return;
    await tx.query(
      `insert into ${schema}.changes (tenant_id, position) values ('default', $1) on conflict (tenant_id) do update set position = excluded.position`,
      [last.position],
    );
  },
  tables: () => Promise.resolve(TABLES),
};

/** Runs of events, cut at every deletion of a tenant, which stands alone: it takes the rows that there are at its moment. */
function splitRuns(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  const runs: RecordedEvent[][] = [];
  let open: RecordedEvent[] | undefined;
  for (const event of events) {
    if (event.type === 'TenantDeleted') {
      runs.push([event]);
      open = undefined;
    } else if (open) open.push(event);
    else runs.push((open = [event]));
  }
  return runs;
}

async function applyRun(tx: Transaction, schema: string, events: readonly RecordedEvent[], deleted: ReadonlySet<string>): Promise<void> {
  const of = (category: string): readonly RecordedEvent[] => events.filter(({ stream }) => categoryOf(stream) === category);
  const [tenants, rules, users, keys, tokens] = [of('tenant'), of('access_rule'), of('user'), of('api_key'), of('admin_token')];
  if (tenants.length > 0) await saveTenants(tx, schema, fold(tenants, await loadTenants(tx, schema, idsOf(tenants)), evolveTenant).rows);
  if (rules.length > 0) {
    const { rows, gone } = fold(rules, await loadAccessRules(tx, schema, idsOf(rules, accessRuleKeyOf)), evolveAccessRule, accessRuleKeyOf);
    await saveAccessRules(tx, schema, rows, gone);
  }
  if (users.length > 0) {
    const { rows, gone } = fold(users, await loadUsers(tx, schema, idsOf(users)), evolveUser);
    await saveUsers(tx, schema, rows, gone, deleted);
  }
  if (keys.length > 0) {
    const { rows, gone } = fold(keys, await loadApiKeys(tx, schema, idsOf(keys)), evolveApiKey);
    await saveApiKeys(tx, schema, rows, gone);
  }
  if (tokens.length > 0) await saveAdminTokens(tx, schema, fold(tokens, await loadAdminTokens(tx, schema, idsOf(tokens)), evolveAdminToken).rows);
}

/** Last state per row (rule 6: a batch is coalesced). */
function fold<Row>(events: readonly RecordedEvent[], stored: ReadonlyMap<string, Row>, evolve: (row: Row | undefined, event: RecordedEvent) => Row | undefined, keyOf = idOf) {
  const states = new Map<string, Row | undefined>();
  for (const event of events) {
    const id = keyOf(event);
    states.set(id, evolve(states.has(id) ? states.get(id) : stored.get(id), event));
  }
  const rows: Row[] = [];
  const gone: string[] = [];
  for (const [id, row] of states) {
    if (row === undefined) gone.push(id);
    else rows.push(row);
  }
  return { rows, gone };
}

function idsOf(events: readonly RecordedEvent[], keyOf = idOf): readonly string[] {
  return [...new Set(events.map(keyOf))];
}

function idOf(event: RecordedEvent): string {
  return partsOf(event).id;
}

/** The tenant that an event is about: of the tenants' own events the one that is made, changed or deleted. */
function tenantOf(event: RecordedEvent): string {
  const { category, tenant, id } = partsOf(event);
  return category === 'tenant' ? id : tenant;
}

function partsOf(event: RecordedEvent): StreamParts {
  const parts = parseStream(event.stream);
  if (!parts) throw new TypeError(`no stream of ours: ${event.stream}`);
  return parts;
}
