import { expect } from 'chai';
import { licenseEnvironment } from '../support/license.ts';
import { useService } from '../support/service.ts';

const ENTRIES = 1_000;

/** Readers never see a part of what one request writes. */
describe('1,000 entries written by one request', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['content-pro'] }) });
  const { owner, ownerContent } = service;
  const ids: string[] = [];
  const entries = Array.from({ length: ENTRIES }, (_, n) => ({ data: { title: `entry ${String(n)}` } }));

  /** The number of entries that match, as a reader sees it who waits for no write. */
  async function total(filter: string): Promise<number> {
    const reply = await ownerContent('GET', `/api/v1/content/article?limit=1&count=true&${filter}`, undefined, {
      'x-min-position': '0'.repeat(20),
    });
    expect(reply.status, reply.text).to.equal(200);
    return Number(reply.headers['x-total-count']);
  }

  /** All totals that a reader without pause sees while the work runs. */
  async function totalsWhile(filter: string, work: () => Promise<unknown>): Promise<readonly number[]> {
    const seen = new Set<number>();
    const reading = (async () => {
      while (!seen.has(ENTRIES)) seen.add(await total(filter));
    })();
    await work();
    await reading;
    return [...seen].toSorted((a, b) => a - b);
  }

  before(() =>
    owner('POST', '/api/admin/schemas', {
      name: 'article',
      with_draft_publish: true,
      fields: [{ name: 'title', field_type: 'text' }],
    }),
  );

  it('appear together when they are created', async () => {
    const totals = await totalsWhile('filters[_status]=draft', async () => {
      const made = await ownerContent('POST', '/api/v1/content/article/bulk', { entries });
      expect(made.status, made.text).to.equal(201);
      ids.push(...made.json<{ data: readonly { id: string }[] }>().data.map(({ id }) => id));
    });
    expect(totals).to.deep.equal([0, ENTRIES]);
  }).timeout(60_000);

  it('are published together by a release', async () => {
    const { id } = (await owner('POST', '/api/admin/releases', { name: 'Spring' })).json<{ id: string }>();
    await owner('PUT', `/api/admin/releases/${id}/entries`, {
      items: ids.map((entry) => ({ entry_id: entry, action: 'publish' })),
    });
    const totals = await totalsWhile('filters[_status]=published', async () => {
      const published = await owner('POST', `/api/admin/releases/${id}/publish`);
      expect(published.status, published.text).to.equal(200);
    });
    expect(totals).to.deep.equal([0, ENTRIES]);
  }).timeout(60_000);
});
