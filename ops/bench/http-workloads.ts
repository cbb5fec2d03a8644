import pg from 'pg';
import { client, member, text } from '../../infrastructure/cli/demo/http.ts';
import type { Load, LoadResult } from './load.ts';
import { LOAD_CORE, runJson, SERVER_CORE, startNode } from './processes.ts';
import type { Figure } from './report.ts';

export type Service = { readonly adminUrl: string; readonly contentUrl: string; readonly setupToken: string; readonly databaseUrl: string };

/** Requests per second that the best self-hosted peer reaches at 32 connections, measured once on the same kind of machine (the README says how). */
const PEER = { get: 367, list: 248, list_filter_sort: 142, create: 211, update: 139 } as const;
type Workload = keyof typeof PEER;

const ARTICLES = 10_000;
const CATEGORIES = 20;

/** Makes the content type, a key and 10,000 articles of 2 KB; the bare server's table holds the same rows. */
export async function seed(service: Service): Promise<{ readonly key: string; readonly ids: readonly string[] }> {
  const session = await client(service.adminUrl, {})('POST', '/api/admin/setup', { email: 'bench@palimpsest.localhost', password: 'Bench-Password-7-long', setup_token: service.setupToken });
  const admin = client(service.adminUrl, { authorization: `Bearer ${text(session, 'token')}` });
  await admin('POST', '/api/admin/schemas', {
    name: 'article',
    with_created_at: true,
    with_updated_at: true,
    fields: [
      { name: 'title', field_type: 'text', required: true },
      { name: 'category', field_type: 'text', indexed: true },
      { name: 'rating', field_type: 'integer', indexed: true },
      { name: 'body', field_type: 'rich_text' },
    ],
  });
  const key = text(await admin('POST', '/api/admin/api-keys', { name: 'bench', roles: ['editor'], scopes: ['content:*'] }), 'raw_key');
  const content = client(service.contentUrl, { 'x-api-key': key });
  const ids: string[] = [];
  for (let start = 0; start < ARTICLES; start += 250) {
    const entries = Array.from({ length: 250 }, (_, offset) => ({ data: article(start + offset) }));
    const answer = member(await content('POST', '/api/v1/content/article/bulk', { entries }), 'data');
    if (Array.isArray(answer)) ids.push(...answer.map((entry: unknown) => text(entry, 'id')));
  }
  const database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  await database.query(`
    create schema bare;
    create table bare.article (
      id uuid primary key, title text, category text, rating bigint, body text,
      _version bigint not null default 1, _created_at timestamptz not null default now(), _updated_at timestamptz not null default now());
    insert into bare.article select id, title, category, rating, body, _version, _created_at, _updated_at from rm_content.article;
    create index on bare.article (_created_at desc, id);
    create index on bare.article (category);
    create index on bare.article (rating)`);
  await database.query('analyze');
  await database.end();
  return { key, ids };
}

/** Every workload at 1 and 32 connections, Palimpsest and the bare server in turn. */
export async function httpWorkloads({ service, key, ids, seconds }: { readonly service: Service; readonly key: string; readonly ids: readonly string[]; readonly seconds: number }): Promise<readonly Figure[]> {
  const bare = await startBareServer(service.databaseUrl);
  const figures: Figure[] = [];
  for (const workload of Object.keys(PEER) as readonly Workload[]) {
    for (const connections of [32, 1]) {
      const requests = requestsOf(workload, ids);
      const headers = { 'content-type': 'application/json' };
      const prefix = '/api/v1/content/article';
      const ours = await run({ url: service.contentUrl, connections, seconds, headers: { ...headers, 'x-api-key': key }, requests: requests.map((request) => ({ ...request, path: `${prefix}${request.path}` })) });
      const theirs = await run({ url: bare.url, connections, seconds, headers, requests: requests.map((request) => ({ ...request, path: `/article${request.path.replace('filters[category]', 'category')}` })) });
      const isRead = workload === 'get' || workload.startsWith('list');
      const least = connections === 1 ? undefined : Math.max(PEER[workload] * (workload === 'get' ? 5 : 3), isRead ? theirs.perSecond / 2 : 0);
      figures.push({
        name: `${workload}, ${connections} connection${connections === 1 ? '' : 's'}`,
        value: ours.perSecond,
        unit: '/s',
        yardstick: theirs.perSecond,
        ...(least === undefined ? {} : { target: { least } }),
        note: `p50 ${ours.p50} ms, p99 ${ours.p99} ms${ours.refused + ours.failed > 0 ? `, ${ours.refused} REFUSED, ${ours.failed} FAILED` : ''}`,
      });
    }
  }
  await bare.stop();
  return figures;
}

function run(load: Load): Promise<LoadResult> {
  return runJson<LoadResult>({ script: 'ops/bench/load.ts', input: load, core: LOAD_CORE });
}

function requestsOf(workload: Workload, ids: readonly string[]): Load['requests'] {
  const some = ids.filter((_, index) => index % 97 === 0);
  switch (workload) {
    case 'get':
      return some.map((id) => ({ method: 'GET', path: `/${id}` }));
    case 'list':
      return [{ method: 'GET', path: '?limit=25' }];
    case 'list_filter_sort':
      return Array.from({ length: CATEGORIES }, (_, category) => ({ method: 'GET', path: `?filters[category]=category-${category}&sort=-rating&limit=25` }));
    case 'create':
      return Array.from({ length: 50 }, (_, index) => ({ method: 'POST', path: '', body: JSON.stringify({ data: article(index) }) }));
    case 'update':
      // Each update does change something.
      return some.map((id) => ({ method: 'PUT', path: `/${id}`, body: JSON.stringify({ data: { title: 'Title <n>' } }) }));
  }
}

/** An article of about 2 KB. */
function article(index: number) {
  const sentence = `The ${index}th page was scraped and written over, and the earlier writing stayed readable under the new. `;
  return { title: `Article number ${index}`, category: `category-${index % CATEGORIES}`, rating: (index * 7919) % 1000, body: sentence.repeat(20).slice(0, 1900) };
}

async function startBareServer(databaseUrl: string) {
  let ready: (port: number) => void;
  const listening = new Promise<number>((resolve) => {
    ready = resolve;
  });
  const server = startNode({
    args: ['--import', 'tsx', 'ops/bench/bare-server.ts'],
    env: { DATABASE_URL: databaseUrl, NODE_ENV: 'production' },
    core: SERVER_CORE,
    onLine: (line) => {
      if (line.startsWith('listening ')) ready(Number(line.slice(10)));
    },
  });
  return { url: `http://127.0.0.1:${await listening}`, stop: () => server.stop() };
}
