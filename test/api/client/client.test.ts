import { expect } from 'chai';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Change, type Client, type Entry, PalimpsestError, createClient } from '../../../api/client/src/index.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { useService } from '../../support/service.ts';

type Article = {
  readonly title: string;
  readonly count: number | null;
  readonly author_id: string | null;
  readonly author?: Entry<{ name: string }> | null;
  readonly tags: readonly string[];
};
type Input = {
  readonly title: string;
  readonly count?: number | null;
  readonly author_id?: string | null;
  readonly tags?: readonly string[];
};
type Schemas = {
  readonly article: { readonly data: Article; readonly input: Input };
  readonly person: { readonly data: { readonly name: string }; readonly input: { readonly name: string } };
};

describe('the client of the Content API', () => {
  const service = useService();
  let client: Client<Schemas>;
  let apiKey = '';

  before(async () => {
    const type = async (body: object) =>
      expect((await service.owner('POST', '/api/admin/schemas', body)).status).to.equal(200);
    await type({ name: 'person', fields: [{ name: 'name', field_type: 'text' }] });
    await type({
      name: 'article',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text', required: true, unique: true },
        { name: 'count', field_type: 'integer' },
        { name: 'author', field_type: 'relation', relation_to: 'person', relation_type: 'belongs_to' },
        { name: 'tags', field_type: 'relation', relation_to: 'person', relation_type: 'many_to_many' },
      ],
    });
    apiKey = (
      await service.owner('POST', '/api/admin/api-keys', { name: 'client', roles: ['editor'], scopes: ['*:*'] })
    ).json<{ raw_key: string }>().raw_key;
    client = createClient<Schemas>({ url: service.service().contentUrl, apiKey });
  });

  const refused = async (promise: Promise<unknown>): Promise<PalimpsestError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof PalimpsestError)) throw new Error(`no refusal: ${String(error)}`);
    return error;
  };

  it('writes and reads entries', async () => {
    const articles = client.content('article');
    const author = await client.content('person').create({ name: 'Ada' });
    const draft = await articles.create({ title: 'One', count: 1, author_id: author.id });
    expect(draft).to.include({ status: 'draft', version: 1, schema_name: 'article' });
    const changed = await articles.update(draft.id, { count: 2 }, { ifMatch: 1 });
    expect(changed.data).to.include({ title: 'One', count: 2 });
    expect((await articles.publish(draft.id)).status).to.equal('published');
    expect((await articles.get(draft.id, { populate: ['author'], fields: ['title'] })).data.author?.data.name).to.equal(
      'Ada',
    );
    expect((await articles.unpublish(draft.id, { ifMatch: 3 })).status).to.equal('draft');
    expect((await articles.archive(draft.id)).status).to.equal('archived');
    expect((await articles.unarchive(draft.id)).status).to.equal('draft');
    await articles.delete(draft.id, { ifMatch: 6 });
    expect((await refused(articles.get(draft.id))).code).to.equal('entry_not_found');
    expect((await articles.undelete(draft.id)).data?.title).to.equal('One');
  });

  it('lists, counts, filters and sorts entries, and reads them as of a past time', async () => {
    const articles = client.content('article');
    const many = await articles.bulk(
      Array.from({ length: 5 }, (_, count) => ({ title: `List ${count}, with comma`, count })),
    );
    expect(many).to.have.length(5);
    const filters = { _status: 'draft', title: { $startsWith: 'List' } };
    expect(await articles.count({ filters })).to.equal(5);
    const sorted = await articles.list({ filters, sort: ['-count'], fields: ['count'], limit: 2, offset: 1 });
    expect(sorted.map(({ data }) => data)).to.deep.equal([{ count: 3 }, { count: 2 }]);
    const found = await articles.list({ filters: { ...filters, title: { $in: ['List 4, with comma'] } } });
    expect(found.map(({ data }) => data.count)).to.deep.equal([4]);
    const seen: string[] = [];
    for await (const { data } of articles.cursor({ filters, sort: 'title', limit: 2 })) seen.push(data.title);
    expect(seen).to.deep.equal([0, 1, 2, 3, 4].map((count) => `List ${count}, with comma`));
    const before = many[4]?.updated_at ?? '';
    await articles.update(many[4]?.id ?? '', { count: 99 });
    expect((await articles.get(many[4]?.id ?? '', { asOf: new Date(before) })).data.count).to.equal(4);
    expect((await articles.list({ filters: { _status: 'draft' }, q: 'comma' })).length).to.equal(5);
  });

  it('reads and sets relations, and reads revisions', async () => {
    const articles = client.content('article');
    const [a, b] = await client.content('person').bulk([{ name: 'A' }, { name: 'B' }]);
    const entry = await articles.create({ title: 'Linked' });
    await articles.link(entry.id, 'tags', [b?.id ?? '', a?.id ?? ''], { ifMatch: 1 });
    const related = await articles.related<{ name: string }>(entry.id, 'tags', { limit: 1 });
    expect([related.total, related.data[0]?.data.name]).to.deep.equal([2, 'B']);
    const revisions = await articles.revisions(entry.id);
    expect(revisions.map(({ version }) => version)).to.deep.equal([2, 1]);
    expect((await articles.revision(entry.id, 1)).data.tags).to.deep.equal([]);
    expect((await articles.diff(entry.id, 1, 2)).map(({ field }) => field)).to.deep.equal(['tags']);
    expect((await articles.blame(entry.id)).find(({ field }) => field === 'title')?.version).to.equal(1);
    expect((await articles.restore(entry.id, 1)).data?.tags).to.deep.equal([]);
  });

  it('rejects with the code, status and fields of a refusal', async () => {
    const articles = client.content('article');
    await articles.create({ title: 'Taken' });
    expect(await refused(articles.create({ title: 'Taken' }))).to.include({ code: 'unique_value_held', status: 409 });
    const invalid = await refused(articles.create({ title: '' }));
    expect([invalid.status, invalid.code, invalid.fields]).to.deep.equal([
      422,
      'validation_failed',
      [{ field: 'title', message: 'is required' }],
    ]);
    expect(invalid.requestId).to.be.a('string');
    const stale = await articles.create({ title: 'Stale' });
    await articles.update(stale.id, { count: 1 });
    expect(await refused(articles.update(stale.id, { count: 2 }, { ifMatch: 1 }))).to.include({
      code: 'entry_changed',
      status: 412,
    });
    expect(
      await refused(createClient({ url: service.service().contentUrl, apiKey: 'svc_none' }).content('article').list()),
    ).to.include({ code: 'authentication_required', status: 401 });
  });

  it('creates an entry once when the same creation is sent several times', async () => {
    const articles = client.content('article');
    const twice = await Promise.all(
      [1, 2].map(() => articles.create({ title: 'Once' }, { idempotencyKey: 'once-and-only' })),
    );
    expect(twice[0]?.id).to.equal(twice[1]?.id);
  });

  it('reads its own writes, and lets another client read them by position', async () => {
    const written = await client.content('article').create({ title: 'Position' });
    expect(client.position()).to.match(/^\d{20}$/);
    const other = createClient<Schemas>({ url: service.service().contentUrl, apiKey, position: client.position() });
    expect((await other.content('article').get(written.id)).version).to.equal(1);
    const late = createClient<Schemas>({
      url: service.service().contentUrl,
      apiKey,
      position: '99999999999999999999',
      retries: 0,
    });
    expect((await refused(late.content('article').list())).code).to.equal('not_caught_up');
  });

  it('sends a session token, and calls a token function before each request', async () => {
    const { token } = (
      await service.admin('POST', '/api/admin/auth/login', {
        email: 'owner@palimpsest.test',
        password: 'Correct-Horse-7-battery',
      })
    ).json<{ token: string }>();
    let asked = 0;
    const signedIn = createClient<Schemas>({
      url: `${service.service().contentUrl}/`,
      token: () => Promise.resolve(((asked += 1), token)),
    });
    await signedIn.content('person').list();
    await signedIn.content('person').list();
    expect(asked).to.equal(2);
  });

  it('reads changes up to the end of the log, and continues by polling', async () => {
    const people = client.content('person');
    const seen: Change<{ name: string }>[] = [];
    for await (const change of people.changes({ limit: 2 })) seen.push(change);
    const after = seen.at(-1)?.position ?? '';
    expect(seen.map(({ data }) => data?.name)).to.include.members(['Ada', 'A', 'B']);
    const later = people.changes({ after, live: 'poll', pollMs: 20 });
    const next = later.next();
    const made = await people.create({ name: 'Polled' });
    expect((await next).value).to.deep.include({ event: 'after_create', entry_id: made.id, old_data: null });
    await later.return();
  });

  it('receives changes as a stream, and closes the stream at the end', async function () {
    this.timeout(30_000);
    const people = client.content('person');
    const made = await people.create({ name: 'Streamed' });
    const names: (string | undefined)[] = [];
    for await (const { data, entry_id } of people.changes({ live: 'stream' })) {
      if (entry_id !== made.id) continue;
      names.push(data?.name);
      if (names.length === 1) await people.update(made.id, { name: 'Streamed on' });
      if (names.length === 2) await people.delete(made.id);
      if (names.length === 3) break;
    }
    expect(names).to.deep.equal(['Streamed', 'Streamed on', undefined]);
    const aborting = new AbortController();
    const waiting = people.changes({ live: 'stream', signal: aborting.signal, after: client.position() ?? '' }).next();
    aborting.abort(new Error('enough'));
    expect(String(await rejectionOf(waiting))).to.contain('enough');
  });

  describe('when the service is busy or unreachable', () => {
    let server: Server;
    let answers: ((request: IncomingMessage, response: ServerResponse) => void)[] = [];
    let asked: { method: string; key: string | undefined }[] = [];
    before(async () => {
      server = createServer((request, response) => {
        asked.push({ method: request.method ?? '', key: request.headers['idempotency-key']?.toString() });
        answers.shift()?.(request, response);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    beforeEach(() => {
      asked = [];
    });
    after(() => server.close());
    const there = (options: object = {}) =>
      createClient({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        apiKey: 'k',
        ...options,
      }).content('article');
    const say =
      (status: number, body: unknown, headers: Record<string, string> = {}) =>
      (_request: IncomingMessage, response: ServerResponse) =>
        response.writeHead(status, headers).end(JSON.stringify(body));
    const busy = (code: string) => say(503, { error: 'later', code }, { 'retry-after': '0.01' });

    it('repeats a request after Retry-After, with the same idempotency key', async () => {
      answers = [
        busy('unavailable'),
        busy('outcome_unknown'),
        say(409, { error: 'in progress', code: 'idempotency_in_progress' }, { 'retry-after': '0.01' }),
        say(201, { id: 'x' }),
      ];
      expect((await there().create({})).id).to.equal('x');
      expect(asked).to.have.length(4);
      expect(new Set(asked.map(({ key }) => key)).size).to.equal(1);
      expect(asked[0]?.key).to.be.a('string');
    });

    it('does not repeat a write whose outcome is unknown', async () => {
      answers = [busy('outcome_unknown')];
      expect((await refused(there().update('x', {}))).code).to.equal('outcome_unknown');
      answers = [say(503, 'a proxy', { 'retry-after': '0.01' })];
      expect((await refused(there({ idempotencyKeys: false }).create({}))).code).to.equal('invalid_answer');
      expect(asked).to.have.length(2);
    });

    it('gives up after the configured number of retries', async () => {
      answers = Array.from({ length: 3 }, () => busy('unavailable'));
      expect((await refused(there({ retries: 2 }).list())).status).to.equal(503);
      expect(asked).to.have.length(3);
    });

    it('rejects with payment_required when the plan lacks the feature', async () => {
      answers = [
        say(402, { error: 'payment_required', plugin: 'content', feature: 'feature:content-pro', upgrade_url: '' }),
      ];
      expect(await refused(there().revisions('x'))).to.include({ status: 402, code: 'payment_required' });
    });

    it('reopens a broken stream after the last position that it received', async () => {
      const events = (text: string, end: boolean) => (_request: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (end) response.end(text);
        else response.write(text);
      };
      const from: (string | undefined)[] = [];
      const change = (position: string) => `id: ${position}\nevent: change\ndata: {"position":"${position}"}\n\n`;
      answers = [
        events(`retry: 3000\n\n: heartbeat\nid: 00000000000000000001\n\n${change('00000000000000000002')}`, true),
        (request, response) => {
          from.push(request.url);
          events(
            `${change('00000000000000000003')}event: closed\ndata: {"error":"permission denied","code":"permission_denied"}\n\n`,
            false,
          )(request, response);
        },
      ];
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { position } of there().changes({ live: 'stream' })) seen.push(position);
      })();
      expect((await refused(reading)).code).to.equal('permission_denied');
      expect(seen).to.deep.equal(['00000000000000000002', '00000000000000000003']);
      expect(from).to.deep.equal(['/api/v1/content/article/changes?after=00000000000000000002']);
    });
  });
});
