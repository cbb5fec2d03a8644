import type { SealedValue, WebhookEvent, WebhookSettings } from '../../domain/automation/webhook.ts';
import { parseWebhookEvent, webhookDecider } from '../../domain/automation/webhook.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';

/** A webhook as the read model holds it; URL, headers and secret stay sealed. */
type WebhookRow = WebhookSettings & {
  readonly id: string;
  readonly tenant_id: string;
  readonly secret: SealedValue | null;
  readonly created_at: string;
  readonly updated_at: string;
};

const COLUMNS = 'id, tenant_id, name, url, events, schemas, enabled, headers, include_fields, exclude_fields, max_response_size, secret, created_at, updated_at';
/** As JSON gives them; `timestamptz` comes back in the form it was written in. */
const ROW = `(id uuid, tenant_id text, name text, url jsonb, events jsonb, schemas jsonb, enabled boolean, headers jsonb, include_fields jsonb, exclude_fields jsonb,
  max_response_size integer, secret jsonb, created_at text, updated_at text)`;

/** Read model of webhooks, schema `rm_automation` (spec 3, webhook; spec 5, rule 6). */
export const automationProjection: Projection = {
  name: 'automation',
  version: 2,
  categories: ['webhook'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.webhooks (
        id uuid primary key, tenant_id text not null, name text not null, url jsonb not null, events jsonb not null, schemas jsonb not null,
        enabled boolean not null, headers jsonb, include_fields jsonb not null, exclude_fields jsonb not null, max_response_size integer not null,
        secret jsonb, created_at text not null, updated_at text not null
      )`);
    await tx.query(`create index on ${schema}.webhooks (tenant_id, created_at, id)`);
  },

  async apply(tx, target, events) {
    const changes = events.map((event) => ({ event, id: idOf(event), change: parseWebhookEvent(event) })).filter(({ change }) => change.type !== 'WebhookDeliveryFailed');
    if (changes.length === 0) return;
    const rows = await load(tx, target, [...new Set(changes.map(({ id }) => id))]);
    for (const { id, event, change } of changes) rows.set(id, applyChange(rows.get(id), id, event, change));
    await save(tx, target, rows);
  },

  tables: () => Promise.resolve([{ table: 'webhooks' }]),
};

function applyChange(row: WebhookRow | undefined, id: string, event: RecordedEvent, change: WebhookEvent): WebhookRow | undefined {
  if (!row && change.type !== 'WebhookCreated') throw new Error(`${event.stream}: ${event.type} for a webhook that is not there`);
  const state = webhookDecider.evolve(row, change);
  const at = event.metadata.occurred_at;
  return state && { ...state, id, tenant_id: event.metadata.tenant, created_at: row?.created_at ?? at, updated_at: at };
}

async function load(tx: Transaction, { schema }: Target, ids: readonly string[]): Promise<Map<string, WebhookRow | undefined>> {
  const rows = await tx.query<WebhookRow>(`select ${COLUMNS} from ${schema}.webhooks where id = any($1::uuid[])`, [ids]);
  const found = new Map<string, WebhookRow | undefined>(ids.map((id) => [id, undefined]));
  for (const row of rows) found.set(row.id, row);
  return found;
}

async function save(tx: Transaction, { schema }: Target, rows: ReadonlyMap<string, WebhookRow | undefined>): Promise<void> {
  const kept = [...rows.values()].filter((row) => row !== undefined);
  const gone = [...rows].filter(([, row]) => row === undefined).map(([id]) => id);
  if (gone.length > 0) await tx.query(`delete from ${schema}.webhooks where id = any($1::uuid[])`, [gone]);
  if (kept.length === 0) return;
  await tx.query(
    `insert into ${schema}.webhooks (${COLUMNS}) select ${COLUMNS} from jsonb_to_recordset($1::jsonb) as r${ROW}
     on conflict (id) do update set name = excluded.name, url = excluded.url, events = excluded.events, schemas = excluded.schemas, enabled = excluded.enabled,
       headers = excluded.headers, include_fields = excluded.include_fields, exclude_fields = excluded.exclude_fields,
       max_response_size = excluded.max_response_size, secret = excluded.secret, updated_at = excluded.updated_at`,
    [JSON.stringify(kept)],
  );
}

function idOf(event: RecordedEvent): string {
  const parts = parseStream(event.stream);
  if (parts?.category !== 'webhook') throw new Error(`no stream of a webhook: ${event.stream}`);
  return parts.id;
}
