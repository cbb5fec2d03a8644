import type { StoredWebhook } from '../../application/ports/webhooks.ts';
import { type WebhookEvent, webhookEvents } from '../../domain/automation/webhook-events.ts';
import { webhookDecider } from '../../domain/automation/webhook.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { partsOf } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';

const COLUMNS =
  'id, tenant_id, name, url, events, schemas, enabled, headers, include_fields, exclude_fields, max_response_size, secret, created_at, updated_at';
/** Column types of the rows as JSON; times stay text, so that they are returned in the form they were written. */
const ROW = `(id uuid, tenant_id text, name text, url jsonb, events jsonb, schemas jsonb, enabled boolean,
  headers jsonb, include_fields jsonb, exclude_fields jsonb,
  max_response_size integer, secret jsonb, created_at text, updated_at text)`;

/** The read model of webhooks, schema `rm_automation`. */
export const automationProjection: Projection = {
  name: 'automation',
  version: 2,
  categories: ['webhook'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.webhooks (
        id uuid primary key, tenant_id text not null, name text not null, url jsonb not null, events jsonb not null,
        schemas jsonb not null, enabled boolean not null, headers jsonb, include_fields jsonb not null,
        exclude_fields jsonb not null, max_response_size integer not null,
        secret jsonb, created_at text not null, updated_at text not null
      )`);
    await tx.query(`create index on ${schema}.webhooks (tenant_id, created_at, id)`);
  },

  apply: projectWebhooks,

  tables: () => Promise.resolve([{ table: 'webhooks' }]),
};

async function projectWebhooks(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void> {
  const changes = events
    .map((event) => ({ event, id: idOf(event), change: webhookEvents.parse(event) }))
    .filter(({ change }) => change.type !== 'WebhookDeliveryFailed');
  if (changes.length === 0) return;
  const rows = await load(tx, target, [...new Set(changes.map(({ id }) => id))]);
  for (const { id, event, change } of changes) rows.set(id, evolveWebhook({ row: rows.get(id), id, event, change }));
  await save(tx, target, rows);
}

function evolveWebhook({
  row,
  id,
  event,
  change,
}: {
  readonly row: StoredWebhook | undefined;
  readonly id: string;
  readonly event: RecordedEvent;
  readonly change: WebhookEvent;
}): StoredWebhook | undefined {
  if (!row && change.type !== 'WebhookCreated')
    throw new Error(`${event.stream}: ${event.type} for a webhook that does not exist`);
  const state = webhookDecider.evolve(row, change);
  const at = event.metadata.occurred_at;
  return state && { ...state, id, tenant_id: event.metadata.tenant, created_at: row?.created_at ?? at, updated_at: at };
}

async function load(
  tx: Transaction,
  { schema }: Target,
  ids: readonly string[],
): Promise<Map<string, StoredWebhook | undefined>> {
  const rows = await tx.query<StoredWebhook>(`select ${COLUMNS} from ${schema}.webhooks where id = any($1::uuid[])`, [
    ids,
  ]);
  const found = new Map<string, StoredWebhook | undefined>(ids.map((id) => [id, undefined]));
  for (const row of rows) found.set(row.id, row);
  return found;
}

async function save(
  tx: Transaction,
  { schema }: Target,
  rows: ReadonlyMap<string, StoredWebhook | undefined>,
): Promise<void> {
  const changed = [...rows.values()].filter((row) => row !== undefined);
  const deleted = [...rows].filter(([, row]) => row === undefined).map(([id]) => id);
  if (deleted.length > 0) await tx.query(`delete from ${schema}.webhooks where id = any($1::uuid[])`, [deleted]);
  if (changed.length === 0) return;
  await tx.query(
    `insert into ${schema}.webhooks (${COLUMNS}) select ${COLUMNS} from jsonb_to_recordset($1::jsonb) as r${ROW}
     on conflict (id) do update
       set name = excluded.name, url = excluded.url, events = excluded.events, schemas = excluded.schemas,
       enabled = excluded.enabled,
       headers = excluded.headers, include_fields = excluded.include_fields, exclude_fields = excluded.exclude_fields,
       max_response_size = excluded.max_response_size, secret = excluded.secret, updated_at = excluded.updated_at`,
    [JSON.stringify(changed)],
  );
}

function idOf(event: RecordedEvent): string {
  return partsOf(event.stream, 'webhook').id;
}
