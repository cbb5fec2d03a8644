import pg from 'pg';
import { client, member, text } from '../../infrastructure/cli/demo/http.ts';
import type { Service } from './http-workloads.ts';
import { median } from './median.ts';
import type { Figure } from './report.ts';
import { setUp } from './set-up.ts';

const BULK = 1000;
const PAGE = 100;
const SAMPLES = 50;

/** Compares a page by cursor at the start of a large content type with one at its end, by medians in milliseconds. */
export async function deepCursor({
  service,
  entries,
}: {
  readonly service: Service;
  readonly entries: number;
}): Promise<readonly Figure[]> {
  const admin = await setUp(service);
  await admin('POST', '/api/admin/schemas', {
    name: 'leaf',
    fields: [
      { name: 'title', field_type: 'text' },
      { name: 'n', field_type: 'integer', indexed: true },
    ],
  });
  const key = text(
    await admin('POST', '/api/admin/api-keys', { name: 'bench', roles: ['editor'], scopes: ['content:*'] }),
    'raw_key',
  );
  const content = client(service.contentUrl, { 'x-api-key': key });

  const began = performance.now();
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < entries) {
      const start = next;
      next += BULK;
      await content('POST', '/api/v1/content/leaf/bulk', {
        entries: Array.from({ length: BULK }, (_, offset) => ({
          data: { title: `Leaf ${start + offset}`, n: start + offset },
        })),
      });
    }
  };
  await Promise.all([writer(), writer(), writer(), writer()]);
  const perSecond = entries / ((performance.now() - began) / 1000);
  await analyze(service.databaseUrl);

  const label = entries.toLocaleString('en');
  const figures: Figure[] = [{ name: `${label} entries in bulks of 1,000`, value: perSecond, unit: 'entries/s' }];
  for (const sort of ['-created_at', 'n']) {
    const times = await walk(sort);
    const [first, last] = [median(times.slice(0, SAMPLES)), median(times.slice(-SAMPLES))];
    figures.push({
      name: `cursor page at the end of ${label}, ${sort}`,
      value: last / first,
      unit: 'times one at the start',
      target: { most: 1.5 },
      note: `${last.toFixed(2)} ms beside ${first.toFixed(2)} ms, pages of ${PAGE}`,
    });
  }
  return figures;

  /** Times of the pages at the start and at the end, in milliseconds. Uses the largest pages in between. */
  async function walk(sort: string): Promise<readonly number[]> {
    const times: number[] = [];
    let cursor = '';
    let seen = 0;
    for (;;) {
      const measured = times.length < SAMPLES || seen >= entries - SAMPLES * PAGE;
      const limit = measured ? PAGE : Math.min(1000, entries - SAMPLES * PAGE - seen);
      const sent = performance.now();
      const page = await content(
        'GET',
        `/api/v1/content/leaf/cursor?sort=${sort}&limit=${limit}&cursor=${encodeURIComponent(cursor)}`,
      );
      if (measured) times.push(performance.now() - sent);
      const data = member(page, 'data');
      seen += Array.isArray(data) ? data.length : 0;
      cursor = text(page, 'next_cursor');
      if (cursor === '') break;
    }
    if (seen !== entries) throw new Error(`paging returned ${seen} of ${entries} entries`);
    return times;
  }
}

/** Runs what autovacuum does within one or two minutes. */
async function analyze(databaseUrl: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query('vacuum analyze');
  await database.end();
}
