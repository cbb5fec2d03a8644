import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { refusal } from '../../domain/errors.ts';
import { type RecordedEvent, parsePosition } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Message } from '../ports/message-bus.ts';
import { cloudEventHeaders } from './cloud-event.ts';
import { DATAREF } from './stub-message.ts';
import { eventsTopic } from './topics.ts';

/**
 * Value of a message on `<prefix>.events.<category>`. Later versions may add members; consumers ignore members that
 * they do not know.
 */
export const EventMessageValue = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  stream: Type.String({ minLength: 1 }),
  revision: Type.Integer({ minimum: 0 }),
  position: Type.String({ pattern: '^\\d{20}$' }),
  occurred_at: Type.String(),
  recorded_at: Type.String(),
  tenant: Type.String(),
  actor: Type.Object({
    kind: Type.Union([
      Type.Literal('user'),
      Type.Literal('api_key'),
      Type.Literal('admin_token'),
      Type.Literal('external'),
      Type.Literal('system'),
      Type.Literal('anonymous'),
    ]),
    id: Type.String(),
  }),
  correlation_id: Type.String(),
  causation_id: Type.String(),
  schema_version: Type.Integer({ minimum: 1 }),
  data: Type.Unsafe<JsonObject>(Type.Object({})),
});

/** @see EventMessageValue */
export type EventMessageValue = Static<typeof EventMessageValue>;

/** Value of a stub: a message without the data of its event, which the topic did not take. */
export const EventStub = Type.Composite([
  Type.Omit(EventMessageValue, ['data']),
  Type.Object({
    stub: Type.Object({
      reason: Type.Union([Type.Literal('too_large'), Type.Literal('refused')]),
      bytes: Type.Integer({ minimum: 0 }),
      href: Type.String(),
    }),
  }),
]);

/** @see EventStub */
export type EventStub = Static<typeof EventStub>;

/**
 * Encodes an event as a message. The key is the stream, so that the events of a stream stay in order.
 * @returns undefined for an event of another system's stream, which has no topic
 */
export function encodeEvent(event: RecordedEvent, prefix: string): Message | undefined {
  const parts = parseStream(event.stream);
  if (!parts) return undefined;
  const { metadata } = event;
  const value: EventMessageValue = {
    id: event.id,
    type: event.type,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    occurred_at: metadata.occurred_at,
    recorded_at: event.recorded_at,
    tenant: metadata.tenant,
    actor: metadata.actor,
    correlation_id: metadata.$correlationId,
    causation_id: metadata.$causationId,
    schema_version: metadata.schema_version,
    data: event.data,
  };
  return {
    topic: eventsTopic(prefix, parts.category),
    key: event.stream,
    value: JSON.stringify(value),
    headers: cloudEventHeaders(event),
  };
}

/** Decodes a stub of the message of an event; undefined for any other message. */
export function decodeEventStub(message: Pick<Message, 'value' | 'headers'>): EventStub | undefined {
  if (message.headers[DATAREF] === undefined || message.value === null) return undefined;
  const value = parseJson(message.value);
  return Value.Check(EventStub, value) ? value : undefined;
}

/** Decodes a message of `encodeEvent`. @throws `message_unreadable` for any other message */
export function decodeEvent(message: Pick<Message, 'value'> & Partial<Pick<Message, 'headers'>>): RecordedEvent {
  const value = parse(message.value);
  const traceparent = message.headers?.['traceparent'];
  const position = parsePosition(value.position);
  if (!position) throw refusal('message_unreadable', { message: 'the message contains no position' });
  return {
    id: value.id,
    type: value.type,
    stream: value.stream,
    revision: value.revision,
    position,
    recorded_at: value.recorded_at,
    data: value.data,
    metadata: {
      tenant: value.tenant,
      actor: { kind: value.actor.kind, id: value.actor.id },
      $correlationId: value.correlation_id,
      $causationId: value.causation_id,
      occurred_at: value.occurred_at,
      schema_version: value.schema_version,
      ...(traceparent === undefined ? {} : { $traceparent: traceparent }),
    },
  };
}

function parse(text: string | null): EventMessageValue {
  if (text === null) throw refusal('message_unreadable', { message: 'the message has no value' });
  const value = parseJson(text);
  if (Value.Check(EventMessageValue, value)) return value;
  const first = Value.Errors(EventMessageValue, value).First();
  throw refusal('message_unreadable', {
    message: `the message is no event: ${first?.path ?? ''} ${first?.message ?? ''}`.trimEnd(),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refusal('message_unreadable', { message: 'the message is not JSON', cause });
  }
}
