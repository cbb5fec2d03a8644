import { Type } from '@sinclair/typebox';
import { EventMessageValue, EventStub } from '../../../application/platform/event-message.ts';
import { DATAREF, STUB_LETTER_HEADERS } from '../../../application/platform/stub-message.ts';
import {
  auditSignaturesTopic,
  contentChangesTopic,
  eventsTopic,
  topics,
} from '../../../application/platform/topics.ts';
import { DEAD_LETTER_HEADERS, type TopicSpec, deadLetterTopic } from '../../../application/ports/message-bus.ts';
import { TRIGGER_EVENTS } from '../../../domain/automation/trigger.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { CATEGORIES } from '../../../domain/stream.ts';
import { createComponents } from '../../http/openapi/components.ts';
import { toJson } from '../../http/openapi/json-schema.ts';
import { Id, Timestamp, oneOf } from '../../http/schemas.ts';
import { EVENTS } from './events.ts';

export type AsyncApiOptions = {
  readonly version: string;
  /** The first part of every topic name. */
  readonly prefix: string;
  /** `host:port` of each broker. Empty: messages do not leave the process. */
  readonly brokers: readonly string[];
};

const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });
const reference = (path: string): JsonObject => ({ $ref: `#/${path}` });
const DELIVERY = 'one message per event, in the order of each stream';

/**
 * The AsyncAPI 3.0 document of all topics and payloads. Later versions may add members to payloads: consumers ignore
 * unknown members, and drop duplicates by `ce_id`.
 */
export function asyncApiDocument({ version, prefix, brokers }: AsyncApiOptions): JsonObject {
  const schemas = createComponents();
  const messages: [string, JsonObject][] = [];
  const channels: [string, JsonObject][] = [];
  const partitions = new Map(topics(prefix).map((spec) => [spec.topic, spec]));

  function channel(
    key: string,
    topic: string,
    {
      description,
      names,
      spec,
    }: { readonly description: string; readonly names: readonly string[]; readonly spec: TopicSpec | undefined },
  ): void {
    channels.push([
      key,
      {
        address: topic,
        description,
        messages: Object.fromEntries(names.map((name) => [name, reference(`components/messages/${name}`)])),
        bindings: {
          kafka: {
            topic,
            ...(spec && {
              partitions: spec.partitions,
              topicConfiguration: { 'cleanup.policy': [spec.compacted ? 'compact' : 'delete'] },
            }),
            bindingVersion: '0.5.0',
          },
        },
      },
    ]);
  }

  for (const category of CATEGORIES) {
    const declared = Object.entries(EVENTS[category] ?? {});
    for (const [type, data] of declared) messages.push([type, eventMessage(type, schemas.schema(data))]);
    const topic = eventsTopic(prefix, category);
    const description =
      declared.length === 0
        ? `Events of category ${category}: this version has none`
        : `Events of category ${category}: ${DELIVERY}`;
    channel(`events.${category}`, topic, {
      description,
      names: declared.length === 0 ? ['Event'] : [...declared.map(([type]) => type), 'EventStub'],
      spec: partitions.get(topic),
    });
  }
  messages.push([
    'Event',
    {
      name: 'Event',
      title: 'An event of any type',
      contentType: 'application/json',
      traits: [reference('components/messageTraits/CloudEvent')],
      payload: reference('components/schemas/Event'),
      bindings: keyed('The stream, such as `entry-default.<id>`'),
    },
  ]);
  messages.push(['EventStub', EVENT_STUB]);
  messages.push(['ContentChange', CHANGE], ['ContentForgotten', FORGOTTEN], ['ContentChangeStub', CHANGE_STUB]);
  const changes = contentChangesTopic(prefix);
  channel('content.changes', changes, {
    description:
      'Every change of an entry, with the whole entry before and after. The topic is compacted by entry; a null value follows a deletion',
    names: ['ContentChange', 'ContentForgotten', 'ContentChangeStub'],
    spec: partitions.get(changes),
  });
  const signatures = auditSignaturesTopic(prefix);
  messages.push(['AuditSignature', AUDIT_SIGNATURE]);
  channel('audit.signatures', signatures, {
    description:
      'Every signature of the audit log, kept permanently: the topic is compacted, and each signature has a key of its own. `palimpsest verify-audit --anchors` compares them with the database',
    names: ['AuditSignature'],
    spec: partitions.get(signatures),
  });
  channel('dead-letters', deadLetterTopic(eventsTopic(prefix, '{category}')), {
    description:
      'Messages that a worker of the service could not handle, unchanged, with the reason in headers; and copies of stubs',
    names: ['DeadLetter', 'StubLetter'],
    spec: undefined,
  });
  messages.push(['DeadLetter', DEAD_LETTER], ['StubLetter', STUB_LETTER]);

  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Palimpsest',
      version,
      description:
        'The events of the service, as CloudEvents on Kafka (binary mode). Delivery is at least once: consumers drop duplicates by `ce_id`. Messages are written in transactions: read with `isolation.level=read_committed`. A message that its topic does not take, such as one above `max.message.bytes`, is a stub: the header `ce_dataref` and the member `stub` say where its data is.',
      license: { name: 'UNLICENSED' },
    },
    defaultContentType: 'application/json',
    ...(brokers.length > 0 && {
      servers: Object.fromEntries(
        brokers.map((host, index) => [`broker${String(index + 1)}`, { host, protocol: 'kafka' }]),
      ),
    }),
    channels: Object.fromEntries(
      channels.map(([key, declared]) => [key, key === 'dead-letters' ? withCategory(declared) : declared]),
    ),
    operations: Object.fromEntries(
      channels.map(([key]) => [
        `send.${key}`,
        { action: 'send', channel: { $ref: `#/channels/${key}` }, summary: `Publishes ${key}` },
      ]),
    ),
    components: {
      schemas: {
        ...schemas.all().schemas,
        Event: toJson(EventMessageValue),
        EventStub: toJson(EventStub),
        Entry: ENTRY,
        ContentChange: CHANGE_VALUE,
        ContentChangeStub: CHANGE_STUB_VALUE,
        CloudEventHeaders: HEADERS,
      },
      messages: Object.fromEntries(messages),
      messageTraits: { CloudEvent: { headers: reference('components/schemas/CloudEventHeaders') } },
    },
  };
}

/** The message of one event type: the common envelope with its type and data. */
function eventMessage(type: string, data: JsonObject): JsonObject {
  const own: Json = { type: 'object', properties: { type: { const: type }, data } };
  return {
    name: type,
    title: type,
    contentType: 'application/json',
    traits: [reference('components/messageTraits/CloudEvent')],
    payload: { allOf: [reference('components/schemas/Event'), own] },
    bindings: keyed('The stream, such as `entry-default.<id>`'),
  };
}

function keyed(description: string): JsonObject {
  return { kafka: { key: text(description), bindingVersion: '0.5.0' } };
}

/** The dead-letter channel: the category is a parameter of its address. */
function withCategory(declared: JsonObject): JsonObject {
  const { bindings: _bindings, ...others } = declared;
  return { ...others, parameters: { category: { description: 'Category of the events', enum: [...CATEGORIES] } } };
}

/** The headers of event messages. Kafka headers are bytes; these contain UTF-8 text. */
const HEADERS: JsonObject = {
  type: 'object',
  required: [
    'content-type',
    'ce_specversion',
    'ce_id',
    'ce_type',
    'ce_source',
    'ce_subject',
    'ce_time',
    'ce_sequence',
    'tenant',
    'correlation_id',
    'schema_version',
  ],
  properties: {
    'content-type': text('Media type of the value', { const: 'application/json' }),
    ce_specversion: text('Version of CloudEvents', { const: '1.0' }),
    ce_id: text('The id of the event; duplicates have the same id'),
    ce_type: text('The type of the event, or `content.` followed by the kind of the change'),
    ce_source: text('`/tenants/<tenant>`'),
    ce_subject: text('The stream'),
    ce_time: text('The time of the event', { format: 'date-time' }),
    ce_sequence: text('Position in the log; positions sort as text', { pattern: '^[0-9]{20}$' }),
    tenant: text('Slug of the tenant'),
    correlation_id: text('Shared by all events that one request caused'),
    schema_version: text('Version of the schema of the data', { pattern: '^[0-9]+$' }),
    [DATAREF]: text('Only on a stub: where the data is, a path of the Admin API', { format: 'uri-reference' }),
    traceparent: text('W3C Trace Context of the append, if tracing is on'),
  },
};

const ENTRY: JsonObject = {
  type: 'object',
  required: ['id', 'status'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    status: { type: 'string', enum: ['draft', 'published', 'archived'] },
    slug: { type: 'string' },
  },
  additionalProperties: true,
  description: 'An entry: its field values by the current field names, with id, status and slug',
};

const ChangeMembers = Type.Object({
  event_id: Type.String({ description: 'Consumers drop duplicates by this id' }),
  event: oneOf(TRIGGER_EVENTS),
  tenant: Type.String(),
  schema: Type.String({ description: 'Name of the content type' }),
  entry_id: Id,
  version: Type.Integer({ minimum: 1 }),
  at: Timestamp,
});
const CHANGE_VALUE: JsonObject = toJson(
  Type.Composite([
    ChangeMembers,
    Type.Object({
      data: Type.Unsafe<Json>({
        anyOf: [reference('components/schemas/Entry'), { type: 'null' }],
        description: 'The entry after the change; null after a deletion',
      }),
      old_data: Type.Unsafe<Json>({
        anyOf: [reference('components/schemas/Entry'), { type: 'null' }],
        description: 'The entry before the change; null for a new entry',
      }),
    }),
  ]),
);
const CHANGE_STUB_VALUE: JsonObject = toJson(Type.Composite([ChangeMembers, Type.Pick(EventStub, ['stub'])]));

const CHANGE_KEY = keyed('`<tenant>/<entry id>`');
const CHANGE: JsonObject = {
  name: 'ContentChange',
  title: 'A change of an entry',
  contentType: 'application/json',
  traits: [reference('components/messageTraits/CloudEvent')],
  payload: reference('components/schemas/ContentChange'),
  bindings: CHANGE_KEY,
};
const CHANGE_STUB: JsonObject = {
  name: 'ContentChangeStub',
  title: 'A change of an entry without the entry: GET the link, with the right to read the audit log of the tenant',
  contentType: 'application/json',
  traits: [reference('components/messageTraits/CloudEvent')],
  payload: reference('components/schemas/ContentChangeStub'),
  bindings: CHANGE_KEY,
};
const EVENT_STUB: JsonObject = {
  name: 'EventStub',
  title: 'An event of any type without its data: GET the link, with the right to read the audit log of the tenant',
  contentType: 'application/json',
  traits: [reference('components/messageTraits/CloudEvent')],
  payload: reference('components/schemas/EventStub'),
  bindings: keyed('The stream, such as `entry-default.<id>`'),
};
const STUB_LETTER: JsonObject = {
  name: 'StubLetter',
  title: 'A copy of a stub',
  headers: {
    type: 'object',
    required: [...STUB_LETTER_HEADERS],
    properties: Object.fromEntries(STUB_LETTER_HEADERS.map((name) => [name, { type: 'string' }])),
    description: 'In addition to the headers of the stub',
  },
  payload: reference('components/schemas/EventStub'),
  bindings: keyed('The key of the stub'),
};
const FORGOTTEN: JsonObject = {
  name: 'ContentForgotten',
  title: 'Follows a deletion, so that compaction removes the entry',
  traits: [reference('components/messageTraits/CloudEvent')],
  payload: { type: 'null' },
  bindings: CHANGE_KEY,
};
const AUDIT_SIGNATURE: JsonObject = {
  name: 'AuditSignature',
  title: 'A signature of the audit log',
  contentType: 'application/json',
  traits: [reference('components/messageTraits/CloudEvent')],
  payload: {
    type: 'object',
    required: ['tenant', 'position', 'jws'],
    properties: {
      tenant: text('Slug of the tenant'),
      position: text('Position of the signature in the log', { pattern: '^[0-9]{20}$' }),
      jws: text('The signed range of the audit chain: a compact JWS (EdDSA)'),
    },
  },
  bindings: keyed('`<tenant>/<SHA-256 of the signature, base64url>`'),
};
const DEAD_LETTER: JsonObject = {
  name: 'DeadLetter',
  title: 'A message that could not be handled',
  headers: {
    type: 'object',
    required: [...DEAD_LETTER_HEADERS],
    properties: Object.fromEntries(DEAD_LETTER_HEADERS.map((name) => [name, { type: 'string' }])),
    description: 'In addition to the headers of the original message',
  },
  payload: { description: 'The original value' },
  bindings: keyed('The original key'),
};
