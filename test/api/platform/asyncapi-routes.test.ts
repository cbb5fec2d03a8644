import specs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { EVENTS } from '../../../api/platform/asyncapi/events.ts';
import { encodeContentChange } from '../../../application/platform/content-change-message.ts';
import { encodeEvent } from '../../../application/platform/event-message.ts';
import { topics } from '../../../application/platform/topics.ts';
import { type Actor, ORIGIN, type RecordedEvent } from '../../../domain/event.ts';
import { CATEGORIES, parseStream } from '../../../domain/stream.ts';
import { openStores } from '../../../infrastructure/composition/platform/open-stores.ts';
import { loadSettings } from '../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../infrastructure/configuration/read-settings.ts';
import { ownFiles } from '../../support/own-files.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { testEnvironment, useService } from '../../support/service.ts';
import { testMetadata } from '../../support/test-metadata.ts';

type Schema = Record<string, unknown>;
type Message = { readonly payload: Schema; readonly headers?: Schema };
type Document = {
  readonly channels: Readonly<
    Record<
      string,
      {
        readonly address: string;
        readonly messages: Readonly<Record<string, { readonly $ref: string }>>;
        readonly bindings?: { readonly kafka: { readonly partitions: number } };
      }
    >
  >;
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly channel: { readonly $ref: string } }>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly messages: Readonly<Record<string, Message>>;
  };
};

/** All event types that the source code declares. */
function declaredTypes(): readonly string[] {
  const sources = ownFiles()
    .filter((path) => /^(domain|application)\/.*\.ts$/.test(path))
    .map((path) => readFileSync(path, 'utf8'));
  const named = sources.flatMap((text) =>
    [...text.matchAll(/DomainEvent<\s*'(\w+)'|toNewEvent\(\s*\{\s*type: '(\w+)'/g)].map(
      ([, declared, appended]) => declared ?? appended ?? '',
    ),
  );
  return [...new Set(named)].toSorted();
}

describe('the AsyncAPI document', () => {
  const service = useService();
  let document: Document;

  before(async () => {
    const reply = await service.owner('GET', '/api/admin/asyncapi.json');
    expect(reply.status).to.equal(200);
    document = reply.json<Document>();
  });

  /** Compiles a schema of the document together with the schemas that it references. */
  function checker(schema: object) {
    const ajv = new Ajv({ strict: false, allErrors: true });
    formats(ajv);
    return ajv.compile({ ...schema, components: document.components });
  }

  it('is AsyncAPI 3.0', () => {
    // The schema of AsyncAPI contains that of JSON Schema.
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, meta: false, validateSchema: false });
    const check = ajv.compile(specs.schemas['3.0.0'] as object);
    check(document);
    expect(check.errors ?? []).to.deep.equal([]);
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).to.be.greaterThan(100);
    for (const path of references) {
      let at: unknown = document;
      for (const part of path.split('/'))
        at = typeof at === 'object' && at !== null ? Reflect.get(at, part) : undefined;
      expect(at, path).to.be.an('object');
    }
    for (const [name, message] of Object.entries(document.components.messages))
      expect(() => checker(message.payload), name).not.to.throw();
  });

  it('lists all topics with their partitions and a send operation', () => {
    const named = Object.values(document.channels).flatMap(({ address, bindings }) =>
      bindings ? [[address, bindings.kafka.partitions]] : [],
    );
    expect(named).to.have.deep.members(topics('palimpsest').map(({ topic, partitions }) => [topic, partitions]));
    expect(Object.values(document.operations).map(({ channel }) => channel.$ref)).to.have.members(
      Object.keys(document.channels).map((key) => `#/channels/${key}`),
    );
  });

  it('has a schema for every event type that the source code declares', () => {
    const described = CATEGORIES.flatMap((category) => Object.keys(EVENTS[category] ?? {})).toSorted();
    expect(described, 'write a schema of a new event in api/platform/asyncapi').to.deep.equal(declaredTypes());
    for (const category of CATEGORIES) {
      const types = Object.keys(EVENTS[category] ?? {});
      expect(Object.keys(document.channels[`events.${category}`]?.messages ?? {})).to.deep.equal(
        types.length === 0 ? ['Event'] : [...types, 'EventStub'],
      );
    }
  });

  it('describes the event messages of a running service', async function () {
    this.timeout(60_000);
    const type = {
      name: 'note',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text', unique: true, validation: [{ rule: 'max_length', params: { value: 9 } }] },
      ],
    };
    const post = async (path: string, body: object): Promise<void> => {
      const reply = await service.owner('POST', path, body);
      expect(reply.status, reply.text).to.be.oneOf([200, 201]);
    };
    await post('/api/admin/schemas', type);
    await service.owner('PUT', '/api/admin/schemas/note/rename', { new_name: 'memo' });
    await service.owner('PUT', '/api/admin/schemas/memo/fields/title/rename', { new_name: 'head' });
    const { id } = (await service.ownerContent('POST', '/api/v1/content/memo', { data: { head: 'One' } })).json<{
      id: string;
    }>();
    for (const move of ['publish', 'unpublish', 'archive', 'unarchive'])
      expect((await service.ownerContent('PUT', `/api/v1/content/memo/${id}/${move}`)).status, move).to.equal(200);
    await service.ownerContent('PUT', `/api/v1/content/memo/${id}`, { data: { head: 'Two' } });
    await service.ownerContent('DELETE', `/api/v1/content/memo/${id}`);
    await service.ownerContent('PUT', `/api/v1/content/memo/${id}/undelete`);
    await post('/api/admin/webhooks', {
      name: 'hook',
      url: 'http://127.0.0.1:8099/',
      events: ['after_create'],
      headers: { 'X-A': 'b' },
      schemas: ['memo'],
    });
    await service.key({});
    await post('/api/admin/permissions', { role: 'reviewer', schema_name: '*', actions: ['read'] });
    await post('/api/admin/tenants', { slug: 'acme', name: 'Acme' });
    await post('/api/admin/users', {
      email: 'a@palimpsest.test',
      password: 'Correct-Horse-9-battery',
      roles: ['editor'],
    });
    await service.owner('PUT', '/api/admin/config', { values: { CORS_MAX_AGE: '60' } });
    const events = await recorded();
    expect(events.map(({ type: name }) => name)).to.include.members([
      'EntryCreated',
      'EntryFieldsChanged',
      'EntryPublished',
      'EntryUndeleted',
      'ContentTypeSaved',
      'ContentTypeRenamed',
      'ContentTypeFieldRenamed',
      'WebhookCreated',
      'ApiKeyCreated',
      'AccessRuleCreated',
      'TenantCreated',
      'UserCreated',
      'ConsoleSettingsSaved',
    ]);
    const headers = checker({ $ref: '#/components/schemas/CloudEventHeaders' });
    for (const event of events) {
      const message = encodeEvent(event, 'palimpsest');
      const { payload } = document.components.messages[event.type] ?? expect.fail(`${event.type} is not described`);
      expect(
        document.channels[`events.${parseStream(event.stream)?.category ?? ''}`]?.messages,
        event.type,
      ).to.have.property(event.type);
      const check = checker(payload);
      expect(check(JSON.parse(message?.value ?? '')), `${event.type}: ${JSON.stringify(check.errors)}`).to.equal(true);
      expect(headers(message?.headers), JSON.stringify(headers.errors)).to.equal(true);
    }
  });

  it('describes content.changes and its tombstones', () => {
    const check = checker({ $ref: '#/components/schemas/ContentChange' });
    const actor: Actor = { kind: 'user', id: 'u' };
    const entry = {
      id: '019abc00-0000-7000-8000-000000000001',
      schema: 'note',
      fields: { title: 'a' },
      status: 'draft' as const,
      slug: undefined,
      version: 1,
      deleted: false,
    };
    const event: RecordedEvent = {
      id: 'e',
      type: 'EntryDeleted',
      stream: `entry-default.${entry.id}`,
      revision: 1,
      position: ORIGIN,
      recorded_at: '2026-11-20T12:00:00.000Z',
      data: {},
      metadata: testMetadata({ actor, occurred_at: '2026-11-20T12:00:00.000Z' }),
    };
    const [change, tombstone] = encodeContentChange({
      event,
      change: { before: entry, after: { ...entry, deleted: true } },
      prefix: 'palimpsest',
    });
    expect(check(JSON.parse(change?.value ?? '')), JSON.stringify(check.errors)).to.equal(true);
    expect(tombstone?.value).to.equal(null);
    expect(checker(document.components.messages['ContentForgotten']?.payload ?? {})(null)).to.equal(true);
  });

  it('is for super admins, and answers 304 when it has not changed', async () => {
    expect((await service.admin('GET', '/api/admin/asyncapi.json')).status).to.equal(401);
    const { headers } = await service.owner('GET', '/api/admin/asyncapi.json');
    expect(
      (await service.owner('GET', '/api/admin/asyncapi.json', undefined, { 'if-none-match': headers['etag'] ?? '' }))
        .status,
    ).to.equal(304);
  });

  async function recorded(): Promise<readonly RecordedEvent[]> {
    const { settings } = loadSettings([environmentLayer(testEnvironment(service.database.url(), '/tmp'))]);
    const stores = await openStores({ settings, logger: recordingLogger() });
    try {
      const events: RecordedEvent[] = [];
      for await (const event of stores.eventStore.readAll({ after: ORIGIN })) events.push(event);
      return events;
    } finally {
      await stores.close();
    }
  }
});
