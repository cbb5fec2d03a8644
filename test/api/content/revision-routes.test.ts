import { expect } from 'chai';
import { Agent } from 'undici';
import { v7 } from 'uuid';
import { entryRoutes } from '../../../api/content/entry-routes.ts';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { findRevision } from '../../../application/content/find-revision.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import type { AccessRules } from '../../../application/ports/access-rules.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import type { Actor } from '../../../domain/event.ts';
import { testContext, useContent } from '../../support/content.ts';
import { caller, statusAndError } from '../../support/http.ts';
import { apiKey, useServedContent } from '../../support/serve-content.ts';

type Revision = { id: string; version: number; action: string; changed: string[]; data: Record<string, unknown> };
type Blame = {
  data: {
    field: string;
    value: unknown;
    version: number;
    at: string;
    actor: Actor;
    credential: unknown;
    correlation_id: string;
    event_id: string;
  }[];
};

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

describe('the history of an entry', () => {
  const content = useContent();
  const agent = new Agent({ connections: 16 });
  const accessRules: AccessRules = {
    decide: ({ roles }) => ({ allowed: true, maskedFields: new Set(roles.includes('masked') ? ['secret'] : []) }),
  };
  let licensed = false;
  let type: ContentType;
  const entitlements = {
    has: (capability: string) => licensed && capability === 'content-pro',
    upgradeUrl: 'https://upgrade.test',
  };
  const served = useServedContent({
    content,
    routes: () => entryRoutes({ ...content.dependencies(), accessRules, entitlements }),
    principals: { writer: apiKey(), masked: apiKey({ roles: ['masked'] }) },
  });
  const as = (name: string) => caller(() => served().content.url, { 'x-api-key': name }, agent);
  const call = as('writer');

  before(async () => {
    type = await content.save({
      name: 'article',
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'views', field_type: 'integer' },
        { name: 'secret', field_type: 'text' },
        { name: 'never', field_type: 'text' },
      ],
    });
  });
  beforeEach(() => {
    licensed = false;
  });
  after(() => agent.close());

  /** Creates an entry with one revision at each of the times. */
  async function aged(moments: readonly Date[]): Promise<string> {
    const [first = new Date(), ...rest] = moments;
    const at = (moment: Date) => testContext({ now: () => moment });
    const { entry } = await createEntry({ type, data: { title: 'v1' } }, at(first), content.dependencies());
    for (const [index, moment] of rest.entries())
      await changeEntry({ type, id: entry.id, data: { title: `v${index + 2}` } }, at(moment), content.dependencies());
    await content.project();
    return entry.id;
  }

  describe('without content-pro', () => {
    it('lists the revisions of the last 30 days, and counts all', async () => {
      const path = `/api/v1/content/article/${await aged([daysAgo(90), daysAgo(31), daysAgo(29), daysAgo(1)])}/revisions`;
      const list = await call('GET', `${path}?count=true`);
      expect(list.json<Revision[]>().map(({ version }) => version)).to.deep.equal([4, 3]);
      expect(list.headers['x-total-count']).to.equal('4');
      expect((await call('GET', `${path}?offset=2`)).json()).to.deep.equal([]);
      licensed = true;
      expect((await call('GET', path)).json<Revision[]>().map(({ version }) => version)).to.deep.equal([4, 3, 2, 1]);
    });

    it('always lists the current revision', async () => {
      const path = `/api/v1/content/article/${await aged([daysAgo(90), daysAgo(60)])}/revisions`;
      expect((await call('GET', path)).json<Revision[]>().map(({ version }) => version)).to.deep.equal([2]);
      expect((await call('GET', `${path}/2`)).status).to.equal(200);
      expect((await call('GET', `${path}/2/diff/2`)).json()).to.deep.equal({ changes: [] });
    });

    it('answers 402 to an older revision, by version and by id, in a diff and for a restore', async () => {
      const id = await aged([daysAgo(90), daysAgo(1), daysAgo(0)]);
      const path = `/api/v1/content/article/${id}/revisions`;
      licensed = true;
      const oldest = (await call('GET', path)).json<Revision[]>().at(-1)!;
      licensed = false;
      const wanted = {
        error: 'payment_required',
        plugin: 'content',
        feature: 'feature:content-pro',
        upgrade_url: 'https://upgrade.test',
      };
      for (const [method, rest] of [
        ['GET', '/1'],
        ['GET', `/${oldest.id}`],
        ['GET', '/1/diff/3'],
        ['GET', '/3/diff/1'],
        ['PUT', '/1/restore'],
        ['PUT', `/${oldest.id}/restore`],
      ] as const) {
        const reply = await call(method, path + rest);
        expect([reply.status, reply.json()], rest).to.deep.equal([402, wanted]);
      }
      expect(statusAndError(await call('GET', `${path}/9`))).to.deep.equal([404, 'revision not found']);
      licensed = true;
      expect((await call('GET', `${path}/${oldest.id}`)).json<Revision>().data['title']).to.equal('v1');
      expect((await call('PUT', `${path}/1/restore`)).json<Revision>().data['title']).to.equal('v1');
    });

    it('serves as_of for the whole history', async () => {
      const id = await aged([daysAgo(90), daysAgo(60), daysAgo(0)]);
      const reply = await call('GET', `/api/v1/content/article/${id}?as_of=${daysAgo(80).toISOString()}`);
      expect(reply.json<Revision>().data['title']).to.equal('v1');
    });
  });

  it('names the action of each revision, and compares revisions across a deletion and a restore', async () => {
    const created = (await call('POST', '/api/v1/content/article', { data: { title: 'a' } })).json<Revision>();
    const path = `/api/v1/content/article/${created.id}`;
    await call('PUT', path, { data: { title: 'b', views: 1 } });
    await call('DELETE', path);
    await undeleteEntry({ type, id: created.id }, testContext(), content.dependencies());
    await content.project();
    await call('PUT', path, { data: { title: 'c' } });
    await call('PUT', `${path}/revisions/1/restore`);
    const revisions = (await call('GET', `${path}/revisions`)).json<Revision[]>();
    expect(revisions.map(({ action }) => action)).to.deep.equal([
      'restore',
      'update',
      'undelete',
      'delete',
      'update',
      'create',
    ]);
    expect((await call('GET', `${path}/revisions/1/diff/5`)).json()).to.deep.equal({
      changes: [
        { field: 'title', from: 'a', to: 'c' },
        { field: 'views', from: null, to: 1 },
      ],
    });
    expect((await call('GET', `${path}/revisions/2/diff/4`)).json()).to.deep.equal({ changes: [] });
    expect((await call('GET', `${path}/revisions/3`)).json<Revision>().data).to.include({ title: 'b', views: 1 });
  });

  describe('finding a revision by its id', () => {
    const find = async (
      store: EventStore,
      id: string,
      revision: string,
    ): Promise<{ found: number | undefined; read: number }> => {
      let read = 0;
      const eventStore: EventStore = {
        ...store,
        async *readStream(name, options) {
          for await (const event of store.readStream(name, options)) {
            read += 1;
            yield event;
          }
        },
      };
      return { found: await findRevision({ stream: `entry-default.${id}`, revision }, { eventStore }), read };
    };

    it('reads no events of the stream if the store has an index of event ids', async () => {
      const id = await aged(Array.from({ length: 20 }, () => daysAgo(0)));
      const other = await aged([daysAgo(0)]);
      const events = (await content.log()).filter(({ stream }) => stream.endsWith(id));
      expect(await find(content.eventStore(), id, events[3]!.id)).to.deep.equal({ found: 3, read: 0 });
      expect(await find(content.eventStore(), other, events[3]!.id)).to.deep.equal({ found: undefined, read: 0 });
      expect(await find(content.eventStore(), id, v7())).to.deep.equal({ found: undefined, read: 0 });
    });

    it('reads the stream back to the time of the id if the store has no index', async () => {
      const id = await aged(Array.from({ length: 20 }, () => daysAgo(0)));
      const store: EventStore = {
        ...content.eventStore(),
        capabilities: { ...content.eventStore().capabilities, indexedIds: false },
      };
      const events = (await content.log()).filter(({ stream }) => stream.endsWith(id));
      expect(await find(store, id, events[15]!.id)).to.deep.equal({ found: 15, read: 5 });
      // The time in the id is in the future, so the newest event is already older.
      expect(await find(store, id, v7({ msecs: Date.now() + 3_600_000 }))).to.deep.equal({ found: undefined, read: 1 });
      expect((await find(store, id, 'f47ac10b-58cc-4372-a567-0e02b2c3d479')).found).to.equal(undefined);
    });
  });

  describe('blame', () => {
    const writtenBy = (actor: Actor, correlationId: string) => testContext({ actor, correlationId });
    const user: Actor = { kind: 'user', id: 'u1' };
    const apiKey: Actor = { kind: 'api_key', id: 'k7' };
    const token: Actor = { kind: 'admin_token', id: 't1' };

    it('names for each field who wrote the current value, when, with which credential and in which request', async () => {
      const { entry } = await createEntry(
        { type, data: { title: 'a', views: 1, secret: 's' } },
        writtenBy(user, 'c-1'),
        content.dependencies(),
      );
      const id = entry.id;
      await changeEntry({ type, id, data: { title: 'b' } }, writtenBy(apiKey, 'c-2'), content.dependencies());
      await changeEntry({ type, id, data: { views: null } }, writtenBy(token, 'c-3'), content.dependencies());
      await content.project();
      const events = (await content.log()).filter(({ stream }) => stream.endsWith(id));
      const { data } = (await call('GET', `/api/v1/content/article/${id}/blame`)).json<Blame>();
      const line = (field: string, value: unknown, at: number, actor: Actor, credential: unknown) => ({
        field,
        value,
        version: at + 1,
        at: events[at]!.metadata.occurred_at,
        actor,
        credential,
        correlation_id: `c-${at + 1}`,
        event_id: events[at]!.id,
      });
      expect(data).to.deep.equal([
        line('title', 'b', 1, apiKey, { kind: 'api_key', id: 'k7' }),
        line('views', null, 2, token, { kind: 'admin_token', id: 't1' }),
        line('secret', 's', 0, user, { kind: 'session', id: null }),
      ]);
      const masked = (await as('masked')('GET', `/api/v1/content/article/${id}/blame`)).json<Blame>();
      expect(masked.data.map(({ field }) => field)).to.deep.equal(['title', 'views']);
    });

    it('names the last writer of a value, not an earlier one with the same value; deleting and restoring changes nothing', async () => {
      const { entry } = await createEntry(
        { type, data: { title: 'a' } },
        writtenBy(user, 'c-1'),
        content.dependencies(),
      );
      const id = entry.id;
      await changeEntry({ type, id, data: { title: 'b' } }, writtenBy(apiKey, 'c-2'), content.dependencies());
      await changeEntry({ type, id, data: { title: 'a' } }, writtenBy(token, 'c-3'), content.dependencies());
      await content.project();
      await call('DELETE', `/api/v1/content/article/${id}`);
      expect(statusAndError(await call('GET', `/api/v1/content/article/${id}/blame`))).to.deep.equal([
        404,
        'content not found',
      ]);
      await undeleteEntry({ type, id }, writtenBy(user, 'c-5'), content.dependencies());
      const { data } = (await call('GET', `/api/v1/content/article/${id}/blame`)).json<Blame>();
      expect(data.map(({ field, version, actor }) => [field, version, actor])).to.deep.equal([['title', 3, token]]);
    });

    it('answers 404 for an id that is not an entry of the type', async () => {
      for (const id of [v7(), 'x'])
        expect(statusAndError(await call('GET', `/api/v1/content/article/${id}/blame`))).to.deep.equal([
          404,
          'content not found',
        ]);
    });
  });
});
