import { randomUUID } from 'node:crypto';
import type {
  AttemptRecord,
  ReservedDelivery,
  UnannouncedDeadLetter,
  WebhookMessage,
  WebhookQueue,
} from '../../application/ports/webhook-queue.ts';
import type { Database, Queryable } from '../postgres/database.ts';

/** Most characters of a response body, and of an error, that are stored with an attempt. */
const MAX_RESPONSE_STORED = 16_384;
const MAX_ERROR_STORED = 1_000;

const ENQUEUE = `
  with added as (
    insert into operational.webhook_messages (id, tenant_id, webhook_id, event_id, event, schema, body, traceparent)
    select id, tenant_id, webhook_id, event_id, event, schema, body, traceparent
    from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $9::text[])
      as m(id, tenant_id, webhook_id, event_id, event, schema, body, traceparent)
    on conflict (id) do nothing
    returning id, tenant_id, webhook_id
  )
  insert into operational.webhook_queue (message_id, tenant_id, webhook_id, delivery_id)
  select added.id, added.tenant_id, added.webhook_id, d.delivery_id
  from added join unnest($1::uuid[], $8::uuid[]) as d(id, delivery_id) on d.id = added.id`;

const RESERVE = `
  with due as (
    select message_id from operational.webhook_queue where due_at <= now() order by due_at
      limit $1 for update skip locked
  ), reserved as (
    update operational.webhook_queue q
    set due_at = now() + make_interval(secs => $2::double precision / 1000), claim = $3::uuid
    from due where q.message_id = due.message_id
    returning q.message_id, q.tenant_id, q.webhook_id, q.delivery_id, q.attempt, q.postponed
  )
  select c.*, m.event, m.schema, m.body, m.traceparent from reserved c
  join operational.webhook_messages m on m.id = c.message_id`;

/**
 * Several workers may record the same attempt. The primary key of the attempts lets one of them win; only its values
 * change other rows.
 */
const RECORD = `
  with done as (
    select * from unnest(
      $1::uuid[], $2::int[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::timestamptz[], $9::uuid[],
      $10::double precision[], $11::uuid[], $12::text[]
    ) as d(message_id, attempt_num, status, status_code, duration_ms, response_body, error, created_at,
      next_delivery_id, next_delay_ms, dead_letter_id, webhook_name)
  ), recorded as (
    insert into operational.webhook_attempts (id, tenant_id, webhook_id, message_id, attempt_num, status, status_code,
      duration_ms, response_body, error, created_at)
    select q.delivery_id, q.tenant_id, q.webhook_id, done.message_id, done.attempt_num, done.status, done.status_code,
      done.duration_ms, done.response_body, done.error, done.created_at
    from done join operational.webhook_queue q on q.message_id = done.message_id and q.attempt = done.attempt_num
    on conflict (message_id, attempt_num) do nothing
    returning message_id, attempt_num
  ), won as (
    select done.* from done join recorded using (message_id, attempt_num)
  ), finished as (
    delete from operational.webhook_queue q using won
    where q.message_id = won.message_id and won.next_delivery_id is null
  ), again as (
    update operational.webhook_queue q
    set attempt = won.attempt_num + 1, delivery_id = won.next_delivery_id, postponed = 0, claim = null,
      created_at = now(),
        due_at = now() + make_interval(secs => won.next_delay_ms / 1000)
    from won where q.message_id = won.message_id and won.next_delivery_id is not null
  ), dead as (
    insert into operational.webhook_dead_letters
      (id, tenant_id, webhook_id, webhook_name, message_id, event, schema, request_body, last_status_code, last_error,
        total_attempts)
    select won.dead_letter_id, m.tenant_id, m.webhook_id, won.webhook_name, m.id, m.event, m.schema, m.body,
      won.status_code, won.error, won.attempt_num
    from won join operational.webhook_messages m on m.id = won.message_id
    where won.dead_letter_id is not null
    on conflict (message_id) do nothing
  )
  select message_id from recorded`;

type ReservedRow = {
  readonly message_id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly attempt: number;
  readonly postponed: number;
  readonly event: string;
  readonly schema: string;
  readonly body: string;
  readonly traceparent: string | null;
};

type UnannouncedRow = {
  readonly id: string;
  readonly tenant_id: string;
  readonly webhook_id: string;
  readonly webhook_name: string;
  readonly event: string;
  readonly schema: string;
  readonly total_attempts: number;
  readonly last_status_code: number | null;
};

/**
 * The queue of webhook deliveries in the tables `operational.webhook_*`. All times are from the clock of the database.
 * A reservation moves the due time into the future.
 */
export function createWebhookQueue({ database }: { readonly database: Database }): WebhookQueue<Queryable> {
  return {
    enqueue(messages, tx = database) {
      if (messages.length === 0) return Promise.resolve(0);
      const column = <Key extends keyof WebhookMessage>(key: Key) => messages.map((message) => message[key] ?? null);
      return tx.execute(
        ENQUEUE,
        [
          column('id'),
          column('tenant'),
          column('webhookId'),
          column('eventId'),
          column('event'),
          column('schema'),
          column('body'),
          column('deliveryId'),
          column('traceparent'),
        ],
        'webhook_enqueue',
      );
    },

    async reserve({ limit, reservedMs }) {
      const reservation = randomUUID();
      const rows = await database.query<ReservedRow>(RESERVE, [limit, reservedMs, reservation], 'webhook_reserve');
      return rows.map((row) => ({
        messageId: row.message_id,
        tenant: row.tenant_id,
        webhookId: row.webhook_id,
        event: row.event,
        schema: row.schema,
        body: row.body,
        deliveryId: row.delivery_id,
        traceparent: row.traceparent ?? undefined,
        attempt: row.attempt,
        postponed: row.postponed,
        reservation,
      }));
    },

    async nextDue() {
      // `having` returns no row for an empty queue. Without it greatest() ignores the null and returns 0, which means
      // due now.
      const [row] = await database.query<{ readonly wait: number }>(
        'select greatest(extract(epoch from min(due_at) - clock_timestamp()) * 1000, 0)::double precision as wait from operational.webhook_queue having min(due_at) is not null',
        [],
        'webhook_next_due',
      );
      return row?.wait;
    },

    async record(attempts) {
      if (attempts.length === 0) return [];
      const rows = await database.query<{ readonly message_id: string }>(
        RECORD,
        recordValues(attempts),
        'webhook_record',
      );
      return rows.map((row) => row.message_id);
    },

    async postpone(deliveries, { delayMs, count }) {
      if (deliveries.length === 0) return;
      await database.execute(
        `update operational.webhook_queue q
         set due_at = now() + make_interval(secs => $3::double precision / 1000), claim = null,
           postponed = q.postponed + $4::int
         from unnest($1::uuid[], $2::uuid[]) as d(message_id, claim)
         where q.message_id = d.message_id and q.claim = d.claim`,
        [...reservationColumns(deliveries), delayMs, count ? 1 : 0],
      );
    },

    async discard(deliveries) {
      if (deliveries.length === 0) return;
      await database.execute(
        'delete from operational.webhook_queue q using unnest($1::uuid[], $2::uuid[]) as d(message_id, claim) where q.message_id = d.message_id and q.claim = d.claim',
        reservationColumns(deliveries),
      );
    },

    async reserveUnannounced({ limit, reservedMs }) {
      const rows = await database.query<UnannouncedRow>(
        `with due as (
           select id from operational.webhook_dead_letters where announced_at is null and announce_after <= now()
           order by announce_after limit $1 for update skip locked
         )
         update operational.webhook_dead_letters l
           set announce_after = now() + make_interval(secs => $2::double precision / 1000)
         from due where l.id = due.id
         returning l.id, l.tenant_id, l.webhook_id, l.webhook_name, l.event, l.schema, l.total_attempts,
           l.last_status_code`,
        [limit, reservedMs],
      );
      return rows.map(toUnannounced);
    },

    async announced(ids) {
      await database.execute(
        'update operational.webhook_dead_letters set announced_at = now() where id = any($1::uuid[])',
        [ids],
      );
    },

    async depth() {
      const [row] = await database.query<{ readonly depth: number }>(
        'select count(*)::int as depth from operational.webhook_queue',
      );
      return row?.depth ?? 0;
    },
  };
}

function recordValues(attempts: readonly AttemptRecord[]): readonly unknown[] {
  return [
    attempts.map(({ messageId }) => messageId),
    attempts.map(({ attempt }) => attempt),
    attempts.map(({ status }) => status),
    attempts.map(({ statusCode }) => statusCode ?? null),
    attempts.map(({ durationMs }) => Math.round(durationMs)),
    attempts.map(({ responseBody }) => storableText(responseBody, MAX_RESPONSE_STORED)),
    attempts.map(({ error }) => storableText(error, MAX_ERROR_STORED)),
    attempts.map(({ at }) => at.toISOString()),
    attempts.map(({ next }) => next?.deliveryId ?? null),
    attempts.map(({ next }) => next?.delayMs ?? null),
    attempts.map(({ deadLetter }) => deadLetter?.id ?? null),
    attempts.map(({ deadLetter }) => deadLetter?.webhookName ?? null),
  ];
}

/** Truncates text and removes NUL characters, which PostgreSQL cannot store. */
function storableText(text: string | undefined, limit: number): string | null {
  return text === undefined ? null : text.slice(0, limit).replaceAll('\0', '');
}

function reservationColumns(deliveries: readonly ReservedDelivery[]): [readonly string[], readonly string[]] {
  return [deliveries.map(({ messageId }) => messageId), deliveries.map(({ reservation }) => reservation)];
}

function toUnannounced(row: UnannouncedRow): UnannouncedDeadLetter {
  return {
    id: row.id,
    tenant: row.tenant_id,
    webhookId: row.webhook_id,
    webhookName: row.webhook_name,
    event: row.event,
    schema: row.schema,
    totalAttempts: row.total_attempts,
    lastStatusCode: row.last_status_code ?? undefined,
  };
}
