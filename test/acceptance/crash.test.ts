import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/**
 * Sends 500 creates at once to a service with a webhook, kills the process after some acknowledgements, and starts it
 * again. No acknowledged write may be lost, versions must be contiguous, the webhook must receive the event of every
 * entry, and no delivery may be recorded twice.
 */
describe('kill -9 during 500 concurrent creates', function () {
  this.timeout(90_000);
  const database = useDatabase();
  const directory = useDirectory();
  let service: ServiceProcess | undefined;

  after(async () => {
    await service?.end('SIGKILL');
  });

  it('loses no acknowledged write and records nothing twice', async () => {
    const receiver = await startReceiver();
    const environment = testEnvironment(database.url(), directory());
    service = await startServiceProcess(environment);
    const admin = caller(() => service?.adminUrl ?? '');
    const setup = await setUpOwner(admin);
    const bearer = { authorization: `Bearer ${setup.token}` };
    await admin('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'n', field_type: 'integer' }] }, bearer);
    const { id: webhook } = (
      await admin(
        'POST',
        '/api/admin/webhooks',
        { name: 'all', url: receiver.url, events: ['after_create', 'after_update'], schemas: ['note'] },
        bearer,
      )
    ).json<{ id: string }>();
    const { raw_key } = (
      await admin('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['content:*'] }, bearer)
    ).json<{ raw_key: string }>();
    const content = caller(() => service?.contentUrl ?? '', { 'x-api-key': raw_key });

    const acknowledged: string[] = [];
    const killed = service;
    const creates = Array.from({ length: 500 }, async (_, n) => {
      const reply = await content('POST', '/api/v1/content/note', { data: { n } });
      if (reply.status === 201) acknowledged.push(reply.json<{ id: string }>().id);
      if (acknowledged.length === 150) killed.child.kill('SIGKILL');
    });
    const results = await Promise.allSettled(creates);
    await killed.end('SIGKILL');
    expect(
      results.some(({ status }) => status === 'rejected'),
      'the kill came too late',
    ).to.equal(true);
    expect(acknowledged.length).to.be.at.least(150);

    service = await startServiceProcess(environment);
    // When a write is acknowledged, the read model contains it and all earlier events.
    const barrier = await content('POST', '/api/v1/content/note', { data: { n: 500 } });
    expect(barrier.status).to.equal(201);
    expect(barrier.headers['x-projection-lag'], 'the new process did not take over').to.equal(undefined);
    const stored = await everyEntry(content);
    for (const id of acknowledged) expect(stored.has(id), `lost ${id}`).to.equal(true);
    for (const id of [...stored].slice(0, 20)) {
      expect((await content('PUT', `/api/v1/content/note/${id}`, { data: { n: -1 } })).status).to.equal(200);
      const revisions = (await content('GET', `/api/v1/content/note/${id}/revisions`)).json<{ version: number }[]>();
      expect(revisions.map(({ version }) => version)).to.deep.equal([2, 1]);
    }

    const expected = stored.size + 20;
    await eventually(
      () => {
        expect(new Set(receiver.requests.map(({ headers }) => headers['x-webhook-id'])).size).to.equal(expected);
      },
      { timeoutMs: 60_000 },
    );
    const created = receiver.requests
      .filter(({ headers }) => headers['x-webhook-event'] === 'after_create')
      .map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
    expect(new Set(created)).to.deep.equal(stored);
    await eventually(
      async () => {
        const rows = await database.db().query<{ deliveries: number; events: number }>(
          `select count(*)::int as deliveries, count(distinct m.id)::int as events from operational.webhook_attempts a join operational.webhook_messages m on m.id = a.message_id
         where a.webhook_id = $1 and a.status = 'success' and m.event = 'after_create'`,
          [webhook],
        );
        expect(rows[0]).to.deep.equal({ deliveries: stored.size, events: stored.size });
        // A delivery that the killed process sent but did not record is sent again after its lock has expired.
      },
      { timeoutMs: 60_000 },
    );
    await receiver.close();
  });

  async function everyEntry(content: ReturnType<typeof caller>): Promise<Set<string>> {
    const ids = new Set<string>();
    let cursor = '';
    do {
      const page = (await content('GET', `/api/v1/content/note/cursor?limit=1000&cursor=${cursor}`)).json<{
        data: { id: string }[];
        next_cursor: string;
      }>();
      for (const { id } of page.data) ids.add(id);
      cursor = page.next_cursor;
    } while (cursor !== '');
    return ids;
  }
});
