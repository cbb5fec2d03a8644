import { type TSchema, Type } from '@sinclair/typebox';
import { TRIGGER_EVENTS } from '../../../domain/automation/trigger.ts';
import { Id, Timestamp, nullable, oneOf, strict } from '../../http/schemas.ts';

const Maybe = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));
const Events = Type.Array(oneOf(TRIGGER_EVENTS), { maxItems: 20 });
const Names = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 500 });
const Headers = Type.Record(Type.String(), Type.String({ maxLength: 4096 }));

/** Maximum of `max_response_size`: how much of an endpoint's response is read, in bytes. */
const MAX_RESPONSE_SIZE = 10_485_760;

/** Body that creates or replaces a webhook. */
export const WebhookBody = Type.Object(
  {
    name: Type.String({ pattern: '\\S', maxLength: 255 }),
    url: Type.String({ minLength: 1, maxLength: 2048 }),
    events: Maybe(Events),
    schemas: Maybe(Names),
    secret: Maybe(Type.String({ maxLength: 1024 })),
    enabled: Maybe(Type.Boolean()),
    headers: Maybe(Headers),
    include_fields: Maybe(Names),
    exclude_fields: Maybe(Names),
    max_response_size: Maybe(Type.Integer({ minimum: 0, maximum: MAX_RESPONSE_SIZE })),
    payload_template: Maybe(Type.String()),
    field_filters: Maybe(Type.Record(Type.String(), Type.String())),
    jsonpath_filter: Maybe(Type.String()),
    max_retries: Maybe(Type.Integer()),
    retry_delay_seconds: Maybe(Type.Integer()),
  },
  strict,
);

export const RotateBody = Type.Object(
  { new_secret: Type.Optional(Type.String({ minLength: 16, maxLength: 1024 })) },
  strict,
);

export const Webhook = Type.Object({
  id: Id,
  name: Type.String(),
  url: Type.String(),
  events: Events,
  schemas: Names,
  enabled: Type.Boolean(),
  has_secret: Type.Boolean({ description: 'Whether requests are signed' }),
  headers: Headers,
  include_fields: Names,
  exclude_fields: Names,
  max_response_size: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const Delivery = Type.Object({
  id: Id,
  webhook_id: Id,
  event: Type.String(),
  schema: Type.String(),
  status: oneOf(['pending', 'success', 'failed', 'dead']),
  status_code: nullable(Type.Integer()),
  duration_ms: nullable(Type.Integer()),
  request_body: Type.String(),
  response_body: nullable(Type.String()),
  retry_count: Type.Integer(),
  attempt_num: Type.Integer(),
  error: nullable(Type.String()),
  created_at: Timestamp,
});

export const DeadLetterStatus = oneOf(['pending', 'replayed', 'dismissed']);

export const DeadLetter = Type.Object({
  id: Id,
  webhook_id: Id,
  webhook_name: Type.String(),
  event: Type.String(),
  schema: Type.String(),
  request_body: Type.String(),
  last_status_code: nullable(Type.Integer()),
  last_error: nullable(Type.String()),
  total_attempts: Type.Integer(),
  status: DeadLetterStatus,
  created_at: Timestamp,
});
