import { expect } from 'chai';
import { type Service, startService } from '../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { OWNER, SETUP_TOKEN } from '../support/owner.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { testEnvironment } from '../support/service.ts';
import { type StreamingPair, startStreamingPair } from './streaming-replica.ts';

type Outcome = 'replica' | 'behind' | 'away' | 'refused';

describe('reads on a replica (DATABASE_REPLICA_URL)', function () {
  this.timeout(60_000);
  let pair: StreamingPair;
  const directory = useDirectory();
  const services: Service[] = [];
  let first: Instance;

  type Instance = {
    readonly service: Service;
    readonly admin: Call;
    readonly content: Call;
    readonly logger: ReturnType<typeof recordingLogger>;
    outcomes(): Promise<Record<Outcome, number>>;
  };

  async function start(): Promise<Instance> {
    const logger = recordingLogger();
    const layers = [
      environmentLayer({
        ...testEnvironment(pair.primaryUrl, directory()),
        DATABASE_REPLICA_URL: pair.replicaUrl,
        METRICS_TOKEN: 'for-the-metrics-only',
      }),
    ];
    const service = await startService({ logger, layers, settings: loadSettings(layers).settings });
    services.push(service);
    const anyone = caller(() => service.adminUrl);
    const setup = await anyone('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
    const { token } = (setup.status === 201 ? setup : await anyone('POST', '/api/admin/auth/login', OWNER)).json<{
      token: string;
    }>();
    const bearer = { authorization: `Bearer ${token}` };
    return {
      service,
      logger,
      admin: caller(() => service.adminUrl, bearer),
      content: caller(() => service.contentUrl, bearer),
      async outcomes() {
        const { text } = await anyone('GET', '/api/admin/metrics', undefined, {
          authorization: 'Bearer for-the-metrics-only',
        });
        return Object.fromEntries(
          [...text.matchAll(/^palimpsest_replica_reads_total\{outcome="(\w+)"\} (\d+)$/gm)].map(
            ([, outcome, count]) => [outcome, Number(count)],
          ),
        ) as Record<Outcome, number>;
      },
    };
  }

  /** Counts the reads of `work` that each of the two servers answers. */
  async function answeredBy(
    instance: Instance,
    work: () => Promise<unknown>,
  ): Promise<Partial<Record<Outcome, number>>> {
    const before = await instance.outcomes();
    await work();
    const after = await instance.outcomes();
    const changed = (Object.keys(after) as Outcome[]).map(
      (outcome) => [outcome, after[outcome] - before[outcome]] as const,
    );
    return Object.fromEntries(changed.filter(([, count]) => count !== 0));
  }

  before(async () => {
    pair = await startStreamingPair();
    first = await start();
    expect(
      (
        await first.admin('POST', '/api/admin/schemas', {
          name: 'note',
          fields: [
            { name: 'title', field_type: 'text' },
            { name: 'n', field_type: 'integer' },
          ],
        })
      ).status,
    ).to.equal(200);
    expect((await first.admin('POST', '/api/admin/tenants', { slug: 'other', name: 'Other' })).status).to.equal(201);
    expect(
      (
        await first.admin(
          'POST',
          '/api/admin/schemas',
          { name: 'note', fields: [{ name: 'title', field_type: 'text' }] },
          { 'x-tenant-id': 'other' },
        )
      ).status,
    ).to.equal(200);
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await pair.close();
  });
  afterEach(() => pair.resumeReplay());

  const create = async ({ content }: Instance, n: number) => {
    const reply = await content('POST', '/api/v1/content/note', { data: { title: `entry ${String(n)}`, n } });
    expect(reply.status, reply.text).to.equal(201);
    return { id: reply.json<{ id: string }>().id, position: reply.headers['x-commit-position'] ?? '' };
  };
  /** Reads an entry in every way that may use the replica. */
  const readEvery = async (
    { content, admin }: Instance,
    id: string,
    headers: Readonly<Record<string, string>> = {},
  ) => ({
    one: (await content('GET', `/api/v1/content/note/${id}`, undefined, headers)).status,
    list: (await content('GET', '/api/v1/content/note?limit=100', undefined, headers)).text.includes(id),
    admin: (await admin('GET', '/api/admin/content?limit=100', undefined, headers)).text.includes(id),
  });
  const THERE = { one: 200, list: true, admin: true };

  it('use the replica when it has the rows: single entries, lists and the console', async () => {
    const { id } = await create(first, 1);
    await pair.resumeReplay();
    expect(
      await answeredBy(first, async () => {
        expect(await readEvery(first, id)).to.deep.equal(THERE);
      }),
    ).to.deep.equal({ replica: 3 });
  });

  it("see the caller's own writes while the replica lags, because they use the primary", async () => {
    const { id } = await create(first, 2);
    await pair.resumeReplay();
    await pair.pauseReplay();
    const fresh = await create(first, 3);
    expect((await first.content('PUT', `/api/v1/content/note/${id}`, { data: { title: 'changed' } })).status).to.equal(
      200,
    );
    expect(
      await answeredBy(first, async () => {
        expect(await readEvery(first, fresh.id)).to.deep.equal(THERE);
        expect((await first.content('GET', `/api/v1/content/note/${id}`)).json()).to.deep.include({ version: 2 });
      }),
    ).to.deep.equal({ behind: 4 });
    await pair.resumeReplay();
    expect(await answeredBy(first, () => readEvery(first, fresh.id))).to.deep.equal({ replica: 3 });
  });

  it('see the entry that caused the refusal of a write', async () => {
    const { id } = await create(first, 4);
    await pair.resumeReplay();
    await pair.pauseReplay();
    await first.content('PUT', `/api/v1/content/note/${id}`, { data: { title: 'by another' } });
    expect(
      (await first.content('PUT', `/api/v1/content/note/${id}`, { data: { title: 'late' } }, { 'if-match': '"1"' }))
        .status,
    ).to.equal(412);
    expect((await first.content('GET', `/api/v1/content/note/${id}`)).headers['etag']).to.equal('"2"');
  });

  it('use the replica for tenants without recent writes', async () => {
    await pair.resumeReplay();
    await pair.pauseReplay();
    await create(first, 5);
    expect(
      await answeredBy(first, async () => {
        expect(
          (await first.content('GET', '/api/v1/content/note', undefined, { 'x-tenant-id': 'other' })).status,
        ).to.equal(200);
      }),
    ).to.deep.equal({ replica: 1 });
  });

  it('with X-Min-Position see the writes of another process', async () => {
    const second = await start();
    await pair.resumeReplay();
    await pair.pauseReplay();
    const { id, position } = await create(first, 6);
    expect(
      await answeredBy(second, async () => {
        expect(await readEvery(second, id, { 'x-min-position': position })).to.deep.equal(THERE);
      }),
    ).to.deep.equal({ behind: 3 });
  });

  it('see the writes of other processes', async () => {
    const second = services.length > 1 ? await start() : first;
    await pair.resumeReplay();
    await pair.pauseReplay();
    const { id } = await create(first, 7);
    await eventually(async () => {
      expect(await readEvery(second, id)).to.deep.equal(THERE);
    });
  });

  it('return each entry once when both servers answer pages of one list', async () => {
    for (let n = 20; n < 30; n += 1) await create(first, n);
    await pair.resumeReplay();
    await pair.pauseReplay();
    const page = async (cursor: string) =>
      first.content(
        'GET',
        `/api/v1/content/note/cursor?sort=n&filters[n][$gte]=20&limit=4&cursor=${encodeURIComponent(cursor)}`,
      );
    await create(first, 30);
    const seen: number[] = [];
    let cursor = '';
    for (let at = 0; at < 5; at += 1) {
      const reply = await page(cursor);
      const body = reply.json<{ data: { data: { n: number } }[]; next_cursor: string }>();
      seen.push(...body.data.map(({ data }) => data.n));
      if (at === 1) await pair.resumeReplay();
      cursor = body.next_cursor;
      if (cursor === '') break;
    }
    expect(seen).to.deep.equal([20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  });

  it('use the primary while the replica lacks new columns of a content type', async () => {
    await create(first, 8);
    await pair.resumeReplay();
    await pair.pauseReplay();
    // The other tenant has no recent writes, so its reads may use the replica. Its content type has the new columns.
    const second = await start();
    const fields = [
      { name: 'title', field_type: 'text' },
      { name: 'more', field_type: 'text' },
    ];
    expect(
      (await first.admin('POST', '/api/admin/schemas', { name: 'note', fields }, { 'x-tenant-id': 'other' })).status,
    ).to.equal(200);
    const reply = await second.content('GET', '/api/v1/content/note', undefined, { 'x-tenant-id': 'other' });
    expect(reply.status, reply.text).to.equal(200);
  });

  it('use the primary while the replica is unreachable, log that once, report it in the health, and use the replica again when it is back', async () => {
    const { id } = await create(first, 9);
    await pair.stopReplica();
    try {
      for (let n = 0; n < 5; n += 1) expect(await readEvery(first, id)).to.deep.equal(THERE);
      const said = () =>
        first.logger.lines.filter(({ message }) => message.includes('replica is unreachable; reads go to the primary'));
      await eventually(() => {
        expect(said()).to.have.length(1);
      });
      const health = (await first.admin('GET', '/api/admin/pool/health')).json<{ status: string; reasons: string[] }>();
      expect(health).to.deep.include({ status: 'degraded' });
      expect(health.reasons.join()).to.include('replica');
      expect((await caller(() => first.service.contentUrl)('GET', '/readyz')).status).to.equal(200);
    } finally {
      await pair.startReplica();
    }
    await eventually(async () => {
      expect(await answeredBy(first, () => readEvery(first, id))).to.deep.equal({ replica: 3 });
    });
    expect(first.logger.lines.map(({ message }) => message)).to.include('the read replica is reachable again');
  });

  it('are served by a process that starts while the replica is unreachable', async () => {
    await pair.stopReplica();
    try {
      const { id } = await create(first, 10);
      const late = await start();
      expect(await readEvery(late, id)).to.deep.equal(THERE);
    } finally {
      await pair.startReplica();
    }
  });
});
