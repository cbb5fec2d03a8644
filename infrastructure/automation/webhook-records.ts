import type { DeadLetterRow, DeliveryRow, WebhookRecords } from '../../application/ports/webhook-records.ts';
import type { Database } from '../postgres/database.ts';

const RFC3339 = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/**
 * Past attempts and, while a delivery is queued, its next attempt. Each branch of the union reads only the rows up to
 * the end of the page.
 */
const DELIVERIES = `
  select d.id, d.webhook_id, m.event, m.schema, d.status, d.status_code, d.duration_ms, m.body as request_body,
    d.response_body, d.attempt_num - 1 as retry_count, d.attempt_num, d.error,
    to_char(d.created_at at time zone 'utc', ${RFC3339}) as created_at
  from (
    (select id, webhook_id, message_id, attempt_num, status, status_code, duration_ms, response_body, error, created_at
     from operational.webhook_attempts where tenant_id = $1 and webhook_id = $2 order by created_at desc, id desc
       limit $3::bigint + $4::bigint)
    union all
    (select delivery_id, webhook_id, message_id, attempt, 'pending', null, null, null, null, created_at
     from operational.webhook_queue where tenant_id = $1 and webhook_id = $2 order by created_at desc, delivery_id desc
       limit $3::bigint + $4::bigint)
  ) d
  join operational.webhook_messages m on m.id = d.message_id
  order by d.created_at desc, d.id desc limit $3::bigint offset $4::bigint`;

const DEAD_LETTER = `
  select id, webhook_id, webhook_name, event, schema, request_body, last_status_code, last_error, total_attempts,
    status,
    to_char(created_at at time zone 'utc', ${RFC3339}) as created_at
  from operational.webhook_dead_letters`;

/** Reads the attempts and dead letters of webhooks for the admin API. */
export function createWebhookRecords({ database }: { readonly database: Database }): WebhookRecords {
  return {
    deliveries: ({ tenant, webhookId, limit, offset }) =>
      database.query<DeliveryRow>(DELIVERIES, [tenant, webhookId, limit, offset]),
    deadLetters: ({ tenant, status, limit, offset }) =>
      database.query<DeadLetterRow>(
        `${DEAD_LETTER} where tenant_id = $1 and ($2::text is null or status = $2)
         order by webhook_dead_letters.created_at desc, id desc limit $3 offset $4`,
        [tenant, status ?? null, limit, offset],
      ),
    deadLetter: async (tenant, id) =>
      (await database.query<DeadLetterRow>(`${DEAD_LETTER} where tenant_id = $1 and id = $2`, [tenant, id]))[0],
  };
}
