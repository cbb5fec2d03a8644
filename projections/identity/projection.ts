import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf, parseStream } from '../../domain/stream.ts';
import { changesCredentials } from '../../domain/identity/user-events.ts';
import type { Projection } from '../engine/projection.ts';
import { evolveApiKey, loadApiKeys, saveApiKeys } from './api-key-rows.ts';
import { TABLES, createTables } from './tables.ts';
import { evolveUser, loadUsers, saveUsers } from './user-rows.ts';

/** The identity read model: users, their memberships, API keys (spec 5, rule 6). */
export const identityProjection: Projection = {
  name: 'identity',
  version: 1,
  categories: ['user', 'api_key'],
  create: createTables,
  async apply(tx, { schema }, events) {
    const users = events.filter(({ stream }) => categoryOf(stream) === 'user');
    const keys = events.filter(({ stream }) => categoryOf(stream) === 'api_key');
    if (users.length > 0) {
      const { rows, gone } = fold(users, await loadUsers(tx, schema, idsOf(users)), evolveUser);
      await saveUsers(tx, schema, rows, gone);
    }
    if (keys.length > 0) {
      const { rows, gone } = fold(keys, await loadApiKeys(tx, schema, idsOf(keys)), evolveApiKey);
      await saveApiKeys(tx, schema, rows, gone);
    }
    const last = events.findLast(changesCredentials);
    if (!last) return;
    await tx.query(
      `insert into ${schema}.changes (tenant_id, position) values ('default', $1) on conflict (tenant_id) do update set position = excluded.position`,
      [last.position],
    );
  },
  tables: () => Promise.resolve(TABLES),
};

/** Last state per row (rule 6: a batch is coalesced). */
function fold<Row>(events: readonly RecordedEvent[], stored: ReadonlyMap<string, Row>, evolve: (row: Row | undefined, event: RecordedEvent) => Row | undefined) {
  const states = new Map<string, Row | undefined>();
  for (const event of events) {
    const id = idOf(event);
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

function idsOf(events: readonly RecordedEvent[]): readonly string[] {
  return [...new Set(events.map(idOf))];
}

function idOf(event: RecordedEvent): string {
  const parts = parseStream(event.stream);
  if (!parts) throw new TypeError(`no stream of ours: ${event.stream}`);
  return parts.id;
}
