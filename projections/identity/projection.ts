import type { RecordedEvent } from '../../domain/event.ts';
import { changesCredentials } from '../../domain/identity/user-events.ts';
import { type Category, categoryOf, partsOf } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';
import { splitAt } from '../engine/split-at.ts';
import { accessRuleKeyOf, evolveAccessRule, loadAccessRules, saveAccessRules } from './access-rule-rows.ts';
import { evolveAdminToken, loadAdminTokens, saveAdminTokens } from './admin-token-rows.ts';
import { evolveApiKey, loadApiKeys, saveApiKeys } from './api-key-rows.ts';
import { TABLES, createTables } from './tables.ts';
import {
  deleteTenant,
  evolveTenant,
  loadDeletedTenants,
  loadTenants,
  saveTenantChanges,
  saveTenants,
} from './tenant-rows.ts';
import { evolveUser, loadUsers, saveUsers } from './user-rows.ts';

const CATEGORIES: readonly Category[] = ['user', 'api_key', 'admin_token', 'tenant', 'access_rule'];

/** The identity read model: tenants with their access rules, users with their memberships, API keys, admin tokens. */
export const identityProjection: Projection = {
  name: 'identity',
  version: 3,
  categories: CATEGORIES,
  create: createTables,
  apply: projectIdentity,
  tables: () => Promise.resolve(TABLES),
};

async function projectIdentity(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void> {
  const { schema } = target;
  const deleted = await loadDeletedTenants(tx, target);
  const changed = new Map<string, string>();
  // The deletion of a tenant removes the rows of all events before it, so it ends a run.
  for (const run of splitAt(events, ({ type }) => type === 'TenantDeleted')) {
    const alive = run.filter((event) => !deleted.has(tenantOf(event)));
    for (const event of alive)
      if (['tenant', 'access_rule'].includes(categoryOf(event.stream))) changed.set(tenantOf(event), event.position);
    const [first] = alive;
    if (first?.type === 'TenantDeleted') {
      await deleteTenant(tx, target, tenantOf(first));
      deleted.add(tenantOf(first));
    } else await projectRun(tx, target, { events: alive, deleted });
  }
  await saveTenantChanges(tx, target, changed);
  const last = events.findLast(changesCredentials);
  if (!last) return;
  await tx.query(
    `insert into ${schema}.changes (tenant_id, position) values ('default', $1)
     on conflict (tenant_id) do update set position = excluded.position`,
    [last.position],
  );
}

async function projectRun(
  tx: Transaction,
  target: Target,
  { events, deleted }: { readonly events: readonly RecordedEvent[]; readonly deleted: ReadonlySet<string> },
): Promise<void> {
  const of = (category: string): readonly RecordedEvent[] =>
    events.filter(({ stream }) => categoryOf(stream) === category);
  const [tenants, rules, users, keys, tokens] = [
    of('tenant'),
    of('access_rule'),
    of('user'),
    of('api_key'),
    of('admin_token'),
  ];
  if (tenants.length > 0)
    await saveTenants(
      tx,
      target,
      fold({ events: tenants, stored: await loadTenants(tx, target, idsOf(tenants)), evolve: evolveTenant }),
    );
  if (rules.length > 0) {
    const { rows, removed } = fold({
      events: rules,
      stored: await loadAccessRules(tx, target, idsOf(rules, accessRuleKeyOf)),
      evolve: evolveAccessRule,
      keyOf: accessRuleKeyOf,
    });
    await saveAccessRules(tx, target, { rows, removed });
  }
  if (users.length > 0) {
    const { rows, removed } = fold({
      events: users,
      stored: await loadUsers(tx, target, idsOf(users)),
      evolve: evolveUser,
    });
    await saveUsers(tx, target, { rows, removed, deleted });
  }
  if (keys.length > 0) {
    const { rows, removed } = fold({
      events: keys,
      stored: await loadApiKeys(tx, target, idsOf(keys)),
      evolve: evolveApiKey,
    });
    await saveApiKeys(tx, target, { rows, removed });
  }
  if (tokens.length > 0)
    await saveAdminTokens(
      tx,
      target,
      fold({ events: tokens, stored: await loadAdminTokens(tx, target, idsOf(tokens)), evolve: evolveAdminToken }),
    );
}

/** Folds the events of a batch into the last state of each row. */
function fold<Row>({
  events,
  stored,
  evolve,
  keyOf = idOf,
}: {
  readonly events: readonly RecordedEvent[];
  readonly stored: ReadonlyMap<string, Row>;
  readonly evolve: (row: Row | undefined, event: RecordedEvent) => Row | undefined;
  readonly keyOf?: (event: RecordedEvent) => string;
}) {
  const states = new Map<string, Row | undefined>();
  for (const event of events) {
    const id = keyOf(event);
    states.set(id, evolve(states.has(id) ? states.get(id) : stored.get(id), event));
  }
  const rows: Row[] = [];
  const removed: string[] = [];
  for (const [id, row] of states) {
    if (row === undefined) removed.push(id);
    else rows.push(row);
  }
  return { rows, removed };
}

function idsOf(events: readonly RecordedEvent[], keyOf = idOf): readonly string[] {
  return [...new Set(events.map(keyOf))];
}

function idOf(event: RecordedEvent): string {
  return partsOf(event.stream, ...CATEGORIES).id;
}

/** The tenant that an event concerns. Events of tenants belong to the default tenant; their id is the slug. */
function tenantOf(event: RecordedEvent): string {
  const { category, tenant, id } = partsOf(event.stream, ...CATEGORIES);
  return category === 'tenant' ? id : tenant;
}
