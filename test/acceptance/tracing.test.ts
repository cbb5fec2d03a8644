import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';
import { type CollectedSpan, type OtlpCollector, startCollector } from './otlp-collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describe('traces (OTEL_*)', function () {
  this.timeout(60_000);
  const database = useDatabase();
  const directory = useDirectory();
  let collector: OtlpCollector;
  let receiver: WebhookReceiver;
  const processes: ServiceProcess[] = [];

  /** One sign-in for all tests, because sign-ins are limited. */
  let token: string | undefined;
  beforeEach(async () => {
    [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((process) => process.end('SIGKILL')));
    await Promise.all([collector.close(), receiver.close()]);
  });

  async function start(environment: Readonly<Record<string, string>>) {
    const process = await startServiceProcess({ ...testEnvironment(database.url(), directory()), ...environment });
    processes.push(process);
    const admin = caller(() => process.adminUrl);
    token ??= (await setUpOwner(admin)).token;
    const bearer = { authorization: `Bearer ${token}` };
    await admin(
      'POST',
      '/api/admin/schemas',
      { name: 'note', fields: [{ name: 'title', field_type: 'text' }] },
      bearer,
    );
    const webhook = await admin(
      'POST',
      '/api/admin/webhooks',
      { name: 'w', url: `${receiver.url}/hook`, events: ['after_create'], schemas: ['note'] },
      bearer,
    );
    expect(webhook.status, webhook.text).to.equal(201);
    return { process, admin, bearer, content: caller(() => process.contentUrl, bearer) };
  }
  const traced = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'palimpsest-under-test',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };

  it('contain the append, the projection and the webhook of a request, and pass the context to the webhook', async () => {
    const { content } = await start({ ...traced, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const reply = await content(
      'POST',
      '/api/v1/content/note',
      { data: { title: 'private words' } },
      { traceparent: `00-${TRACE}-${CALLER}-01` },
    );
    expect(reply.status, reply.text).to.equal(201);
    const [delivered] = await receiver.waitFor(1);

    const spans = await eventually(() => {
      const found = collector.spans().filter(({ traceId }) => traceId === TRACE);
      expect(found.map(({ name }) => name)).to.include.members([
        'POST /api/v1/content/{schema}',
        'append',
        'apply projection/content/2',
        'handle webhooks',
        'deliver webhook',
      ]);
      return found;
    });
    const named = (start: string): CollectedSpan => spans.find(({ name }) => name.startsWith(start))!;
    const request = named('POST ');
    const append = named('append');
    expect(request).to.deep.include({ parentSpanId: CALLER, kind: 2, failed: false, service: 'palimpsest-under-test' });
    expect(request.attributes).to.deep.include({
      'http.route': '/api/v1/content/{schema}',
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'palimpsest.tenant': 'default',
    });
    expect(append.parentSpanId).to.equal(request.spanId);
    expect(append.attributes).to.deep.include({
      'palimpsest.event': 'EntryCreated',
      'palimpsest.category': 'entry',
      'palimpsest.position': reply.headers['x-commit-position'],
    });
    for (const follower of [named('apply projection/content/'), named('handle webhooks')]) {
      expect(follower.parentSpanId, follower.name).to.equal(append.spanId);
      expect(follower.links, follower.name).to.deep.equal([{ traceId: TRACE, spanId: append.spanId }]);
    }
    const delivery = named('deliver webhook');
    expect(delivery).to.deep.include({ parentSpanId: append.spanId, kind: 3 });
    expect(delivery.attributes).to.deep.include({ 'http.response.status_code': 200, 'palimpsest.attempt': 1 });
    expect(delivered?.headers['traceparent']).to.equal(`00-${TRACE}-${delivery.spanId}-01`);
    const [event] = await database
      .db()
      .query<{ metadata: { $traceparent: string } }>(
        `select metadata from eventstore.events where type = 'EntryCreated'`,
      );
    expect(event?.metadata.$traceparent).to.equal(`00-${TRACE}-${append.spanId}-01`);
    expect(collector.received.map(({ body }) => body).join('')).to.not.match(
      /private words|owner@palimpsest|authorization|Bearer/i,
    );
  });

  it('are flushed when the process stops, and do not contain probes', async () => {
    const { process, content } = await start({
      ...traced,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    });
    await content('GET', '/healthz');
    await content('GET', '/api/v1/content/note');
    expect(collector.received).to.deep.equal([]);
    await process.end('SIGTERM');
    const names = collector.spans().map(({ name }) => name);
    expect(names).to.include('GET /api/v1/content/{schema}');
    expect(names.filter((name) => name.includes('healthz') || name === 'GET')).to.deep.equal([]);
  });

  it('do not prevent the shutdown when the collector is unreachable', async () => {
    const { process, content } = await start({ ...traced, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    await content('GET', '/api/v1/content/note');
    await process.end('SIGTERM');
    expect(await process.exited).to.equal(0);
  });

  it('are sent as protobuf by default, and sampled by OTEL_TRACES_SAMPLER', async () => {
    const { process, content } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    });
    await content('GET', '/api/v1/content/note');
    await content('GET', '/api/v1/content/note', undefined, { traceparent: `00-${TRACE}-${CALLER}-01` });
    await process.end('SIGTERM');
    expect(collector.received.map(({ path, headers }) => [path, headers['content-type']])).to.deep.equal([
      ['/v1/traces', 'application/x-protobuf'],
    ]);
    expect(collector.received[0]?.body).to.include('GET /api/v1/content/{schema}').and.not.include('POST');
  });

  for (const [why, environment] of [
    ['unset', {}],
    ['disabled', { OTEL_SDK_DISABLED: 'true' }],
    ['set to none', { OTEL_TRACES_EXPORTER: 'none' }],
  ] as const) {
    it(`are not recorded, sent or passed on when tracing is ${why}`, async () => {
      const { process, content } = await start(
        why === 'unset' ? {} : { ...traced, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment },
      );
      const reply = await content(
        'POST',
        '/api/v1/content/note',
        { data: { title: why } },
        { traceparent: `00-${TRACE}-${CALLER}-01` },
      );
      const [delivered] = await receiver.waitFor(1);
      expect(delivered?.headers).to.not.have.property('traceparent');
      const [event] = await database
        .db()
        .query<{ metadata: object }>(`select metadata from eventstore.events where stream = $1`, [
          `entry-default.${reply.json<{ id: string }>().id}`,
        ]);
      expect(event?.metadata).to.not.have.property('$traceparent');
      await process.end('SIGTERM');
      expect(collector.received).to.deep.equal([]);
    });
  }
});
