import pg from 'pg';
import { client, member, text } from '../../infrastructure/cli/demo/http.ts';
import type { Load, LoadResult } from './load.ts';
import { LOAD_CORE, SERVER_CORE, runJson, startNode } from './processes.ts';
import type { Figure } from './report.ts';
import { setUp } from './set-up.ts';

export type Service = {
  readonly adminUrl: string;
  readonly contentUrl: string;
  readonly setupToken: string;
  readonly databaseUrl: string;
};

/**
 * Requests per second of the best self-hosted peer at 32 connections, measured once on the same kind of machine
 * (README.md).
 */
const PEER = { get: 367, list: 248, list_filter_sort: 142, list_populate: 201, create: 211, update: 139 } as const;
/** The workloads in the order of their runs. Workloads without a number of the peer have no target. */
const WORKLOADS = [
  'get',
  'as_of_get',
  'list',
  'list_filter_sort',
  'list_populate',
  'search',
  'create',
  'update',
  'bulk_1000',
] as const;
type Workload = (typeof WORKLOADS)[number];

const ARTICLES = 10_000;
const CATEGORIES = 20;
const AUTHORS = 500;
/** Entries per bulk request. Each has 600 bytes, so that the body stays below the size limit. */
const BULK = 1000;
/** Words of the articles, for the search workload. Each occurs in a few articles. */
const WORDS = ['vellum', 'quire', 'gloss', 'recto', 'verso', 'folio', 'rubric', 'colophon'];

/**
 * Creates two content types, an API key and 10,000 published articles of 2 KB by 500 authors. The access rule of the
 * key's role masks a field, and articles have drafts and relations. The tables of the bare server contain the same
 * rows.
 */
export async function seed(service: Service): Promise<{ readonly key: string; readonly ids: readonly string[] }> {
  const admin = await setUp(service);
  await admin('POST', '/api/admin/schemas', {
    name: 'author',
    fields: [
      { name: 'name', field_type: 'text', required: true },
      { name: 'bio', field_type: 'rich_text' },
    ],
  });
  await admin('POST', '/api/admin/schemas', {
    name: 'article',
    with_created_at: true,
    with_updated_at: true,
    with_draft_publish: true,
    fields: [
      { name: 'title', field_type: 'text', required: true },
      { name: 'category', field_type: 'text', indexed: true },
      { name: 'rating', field_type: 'integer', indexed: true },
      { name: 'body', field_type: 'rich_text' },
      { name: 'author', field_type: 'relation', relation_to: 'author', relation_type: 'belongs_to' },
      { name: 'remark', field_type: 'text' },
    ],
  });
  await admin('POST', '/api/admin/permissions', {
    role: 'editor',
    schema_name: 'article',
    actions: ['*'],
    field_mask: ['remark'],
  });
  const key = text(
    await admin('POST', '/api/admin/api-keys', { name: 'bench', roles: ['editor'], scopes: ['content:*'] }),
    'raw_key',
  );
  const content = client(service.contentUrl, { 'x-api-key': key });
  const authors = idsOf(
    await content('POST', '/api/v1/content/author/bulk', {
      entries: Array.from({ length: AUTHORS }, (_, index) => ({
        data: { name: `Author ${index}`, bio: `Wrote page ${index} and the one under it.` },
      })),
    }),
  );
  const ids: string[] = [];
  for (let start = 0; start < ARTICLES; start += 250) {
    const entries = Array.from({ length: 250 }, (_, offset) => ({
      data: { ...article(start + offset), author_id: authors[(start + offset) % AUTHORS] },
    }));
    const made = idsOf(await content('POST', '/api/v1/content/article/bulk', { entries }));
    await Promise.all(made.map((id) => content('PUT', `/api/v1/content/article/${id}/publish`, {})));
    ids.push(...made);
  }
  const database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  await database.query(`
    create schema bare;
    create table bare.article (
      id uuid primary key, title text, category text, rating bigint, body text, author_id uuid, words tsvector,
      _version bigint not null default 1, _created_at timestamptz not null default now(),
      _updated_at timestamptz not null default now());
    create table bare.author (id uuid primary key, name text, bio text);
    insert into bare.author select id, name, bio from rm_content.author;
    insert into bare.article
      select id, title, category, rating, body, author_id, to_tsvector('simple', concat(title, ' ', body)), _version,
        _created_at, _updated_at from rm_content.article;
    create index on bare.article using gin (words);
    create index on bare.article (_created_at desc, id);
    create index on bare.article (category);
    create index on bare.article (rating)`);
  await database.query('analyze');
  await database.end();
  return { key, ids };
}

function idsOf(answer: unknown): readonly string[] {
  const data = member(answer, 'data');
  return Array.isArray(data) ? data.map((entry: unknown) => text(entry, 'id')) : [];
}

/** Runs each workload with 32 connections and with 1, first on Palimpsest, then on the bare server. */
export async function httpWorkloads({
  service,
  key,
  ids,
  seconds,
}: {
  readonly service: Service;
  readonly key: string;
  readonly ids: readonly string[];
  readonly seconds: number;
}): Promise<readonly Figure[]> {
  const bare = await startBareServer(service.databaseUrl);
  const figures: Figure[] = [];
  for (const workload of WORKLOADS) {
    for (const connections of workload === 'bulk_1000' ? [4, 1] : [32, 1]) {
      const requests = requestsOf(workload, ids, new Date().toISOString());
      const headers = { 'content-type': 'application/json' };
      const prefix = '/api/v1/content/article';
      const ours = await run({
        url: service.contentUrl,
        connections,
        seconds,
        headers: { ...headers, 'x-api-key': key },
        requests: requests.map((request) => ({ ...request, path: `${prefix}${request.path}` })),
      });
      const theirs =
        workload === 'as_of_get' || workload === 'bulk_1000'
          ? undefined
          : await run({
              url: bare.url,
              connections,
              seconds,
              headers,
              requests: requests.map((request) => ({
                ...request,
                path: `/article${request.path.replace('filters[category]', 'category')}`,
              })),
            });
      figures.push({
        name: `${workload}, ${connections} connection${connections === 1 ? '' : 's'}`,
        value: ours.perSecond * (workload === 'bulk_1000' ? BULK : 1),
        unit: workload === 'bulk_1000' ? 'entries/s' : '/s',
        ...(theirs ? { baseline: theirs.perSecond } : {}),
        ...(connections === 32 && workload in PEER
          ? { target: { least: leastOf(workload, theirs?.perSecond ?? 0) } }
          : {}),
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

/**
 * The target: three times the peer, five times for one entry. For reads also half of the bare server in the same run.
 */
function leastOf(workload: Workload, bare: number): number {
  const peer = Object.entries(PEER).find(([name]) => name === workload)?.[1] ?? 0;
  const isRead = workload === 'get' || workload.startsWith('list');
  return Math.max(peer * (workload === 'get' ? 5 : 3), isRead ? bare / 2 : 0);
}

function requestsOf(workload: Workload, ids: readonly string[], moment: string): Load['requests'] {
  const some = ids.filter((_, index) => index % 97 === 0);
  switch (workload) {
    case 'get':
      return some.map((id) => ({ method: 'GET', path: `/${id}` }));
    case 'list':
      return [{ method: 'GET', path: '?limit=25' }];
    case 'list_filter_sort':
      return Array.from({ length: CATEGORIES }, (_, category) => ({
        method: 'GET',
        path: `?filters[category]=category-${category}&sort=-rating&limit=25`,
      }));
    case 'as_of_get':
      return some.map((id) => ({ method: 'GET', path: `/${id}?as_of=${moment}` }));
    case 'list_populate':
      return [{ method: 'GET', path: '?populate=author&limit=25' }];
    case 'search':
      return WORDS.map((word) => ({ method: 'GET', path: `?q=${word}&limit=25` }));
    case 'bulk_1000':
      return [
        {
          method: 'POST',
          path: '/bulk',
          body: JSON.stringify({
            entries: Array.from({ length: BULK }, (_, index) => ({
              data: { ...article(index), body: article(index).body.slice(0, 500) },
            })),
          }),
        },
      ];
    case 'create':
      return Array.from({ length: 50 }, (_, index) => ({
        method: 'POST',
        path: '',
        body: JSON.stringify({ data: article(index) }),
      }));
    case 'update':
      // Each update changes the entry.
      return some.map((id) => ({
        method: 'PUT',
        path: `/${id}`,
        body: JSON.stringify({ data: { title: 'Title <n>' } }),
      }));
  }
}

/** An article with about 2 KB of data. */
function article(index: number) {
  const sentence =
    `The ${index}th page was scraped and written over, ` + 'and the earlier writing stayed readable under the new. ';
  return {
    title: `Article number ${index}${index % 50 === 0 ? ` on ${WORDS[(index / 50) % WORDS.length] ?? ''}` : ''}`,
    category: `category-${index % CATEGORIES}`,
    rating: (index * 7919) % 1000,
    body: sentence.repeat(20).slice(0, 1900),
  };
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
