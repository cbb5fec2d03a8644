import { followChanges } from './changes.ts';
import { plainQuery, queryOf } from './query.ts';
import type { Asked, Transport } from './transport.ts';
import type {
  Blame, Change, ChangesOptions, CreateOptions, Difference, Entry, FindOptions, ListOptions, Page, PageOptions, ReadOptions, RequestOptions, Revision, RevisionWithData, WriteOptions,
} from './types.ts';

/** The entries of one content type. Everything rejects with a `PalimpsestError` where the service refuses. */
export type Content<Data, Input> = {
  /** 1 to 200 entries, 25 by default; published ones only where the type has drafts and no filter on `_status` is given. */
  readonly list: (options?: ListOptions<Data>) => Promise<readonly Entry<Data>[]>;
  /** How many entries there are. */
  readonly count: (options?: Omit<FindOptions<Data>, 'limit' | 'sort' | 'fields' | 'populate' | 'depth'>) => Promise<number>;
  /** One page of the cursor list. */
  readonly page: (options?: PageOptions<Data>) => Promise<Page<Data>>;
  /** Every entry, page by page; none comes twice when entries change during the walk. `limit`: entries a page, 100 by default. */
  readonly cursor: (options?: PageOptions<Data>) => AsyncGenerator<Entry<Data>, void, undefined>;
  readonly get: (id: string, options?: ReadOptions<Data>) => Promise<Entry<Data>>;
  readonly create: (data: Input, options?: CreateOptions) => Promise<Entry<Data>>;
  /** 1 to 1,000 entries, all or none. */
  readonly bulk: (items: readonly Input[], options?: CreateOptions) => Promise<readonly Entry<Data>[]>;
  /** Writes the fields given; the others stay. */
  readonly update: (id: string, data: Partial<Input>, options?: WriteOptions) => Promise<Entry<Data>>;
  readonly delete: (id: string, options?: WriteOptions) => Promise<void>;
  readonly publish: (id: string, options?: WriteOptions) => Promise<Entry<Data>>;
  readonly unpublish: (id: string, options?: WriteOptions) => Promise<Entry<Data>>;
  readonly archive: (id: string, options?: WriteOptions) => Promise<Entry<Data>>;
  readonly unarchive: (id: string, options?: WriteOptions) => Promise<Entry<Data>>;
  /** Brings back what soft delete has kept. */
  readonly undelete: (id: string, options?: WriteOptions) => Promise<Entry<Data>>;
  /** Entries that a relation leads to, in their order. */
  readonly related: <Related = Data>(id: string, field: string, options?: RequestOptions & { readonly limit?: number; readonly offset?: number }) => Promise<{ readonly data: readonly Entry<Related>[]; readonly total: number }>;
  /** Replaces the entries that a relation leads to. */
  readonly link: (id: string, field: string, ids: readonly string[], options?: WriteOptions) => Promise<Entry<Data>>;
  /** Newest first. */
  readonly revisions: (id: string, options?: RequestOptions & { readonly limit?: number; readonly offset?: number }) => Promise<readonly Revision[]>;
  /** By id or version. */
  readonly revision: (id: string, revision: string | number, options?: RequestOptions) => Promise<RevisionWithData<Data>>;
  readonly diff: (id: string, a: string | number, b: string | number, options?: RequestOptions) => Promise<readonly Difference[]>;
  readonly restore: (id: string, revision: string | number, options?: WriteOptions) => Promise<Entry<Data>>;
  /** For each field who wrote the value it has today. */
  readonly blame: (id: string, options?: RequestOptions) => Promise<readonly Blame[]>;
  /** Every change in the order of the log, deletions included. */
  readonly changes: (options?: ChangesOptions) => AsyncGenerator<Change<Data>, void, undefined>;
};

/** Where new idempotency keys come from; undefined: none are made. */
export type NewKey = (() => string) | undefined;

/** Binds the operations to one content type. */
export function contentOf<Data, Input>(transport: Transport, name: string, newKey: NewKey): Content<Data, Input> {
  const base = `/api/v1/content/${encodeURIComponent(name)}`;
  const at = (id: string, ...rest: readonly (string | number)[]): string => [base, ...[id, ...rest].map((part) => encodeURIComponent(part))].join('/');

  /** The service answers what its document says: the types are made of it. */
  async function ask<T>(asked: Asked): Promise<T> {
    const { body } = await transport.request(asked);
    return body as T;
  }

  const match = ({ ifMatch, signal }: WriteOptions): Pick<Asked, 'headers' | 'signal'> => ({ headers: ifMatch === undefined ? {} : { 'If-Match': `"${ifMatch}"` }, signal });
  const created = ({ idempotencyKey = newKey?.(), signal }: CreateOptions): Pick<Asked, 'headers' | 'signal'> => ({ headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }, signal });
  const move = (verb: string) => (id: string, options: WriteOptions = {}) => ask<Entry<Data>>({ method: 'PUT', path: at(id, verb), ...match(options) });
  const page = ({ signal, ...options }: PageOptions<Data> = {}) => ask<Page<Data>>({ method: 'GET', path: `${base}/cursor${queryOf(options)}`, signal });

  async function* cursor(options: PageOptions<Data> = {}): AsyncGenerator<Entry<Data>, void, undefined> {
    let next = options.cursor;
    for (;;) {
      const { data, next_cursor } = await page({ limit: 100, ...options, ...(next === undefined ? {} : { cursor: next }) });
      yield* data;
      if (next_cursor === '') return;
      next = next_cursor;
    }
  }

  return {
    list: ({ signal, ...options } = {}) => ask({ method: 'GET', path: base + queryOf(options), signal }),
    async count({ signal, ...options } = {}) {
      const { headers } = await transport.request({ method: 'GET', path: base + queryOf({ ...options, limit: 1 }, { count: true }), signal });
      return Number(headers.get('x-total-count') ?? Number.NaN);
    },
    page,
    cursor,
    get: (id, { signal, ...options } = {}) => ask({ method: 'GET', path: at(id) + queryOf(options), signal }),
    create: (data, options = {}) => ask({ method: 'POST', path: base, body: { data }, ...created(options) }),
    async bulk(items, options = {}) {
      const { data } = await ask<{ readonly data: readonly Entry<Data>[] }>({ method: 'POST', path: `${base}/bulk`, body: { entries: items.map((data) => ({ data })) }, ...created(options) });
      return data;
    },
    update: (id, data, options = {}) => ask({ method: 'PUT', path: at(id), body: { data }, ...match(options) }),
    async delete(id, options = {}) {
      await transport.request({ method: 'DELETE', path: at(id), ...match(options) });
    },
    publish: move('publish'),
    unpublish: move('unpublish'),
    archive: move('archive'),
    unarchive: move('unarchive'),
    undelete: move('undelete'),
    related: (id, field, { signal, limit, offset } = {}) => ask({ method: 'GET', path: at(id, 'relations', field) + plainQuery({ limit, offset }), signal }),
    link: (id, field, ids, options = {}) => ask({ method: 'PUT', path: at(id, 'relations', field), body: { ids }, ...match(options) }),
    revisions: (id, { signal, limit, offset } = {}) => ask({ method: 'GET', path: at(id, 'revisions') + plainQuery({ limit, offset }), signal }),
    revision: (id, revision, { signal } = {}) => ask({ method: 'GET', path: at(id, 'revisions', revision), signal }),
    async diff(id, a, b, { signal } = {}) {
      const { changes } = await ask<{ readonly changes: readonly Difference[] }>({ method: 'GET', path: at(id, 'revisions', a, 'diff', b), signal });
      return changes;
    },
    restore: (id, revision, options = {}) => ask({ method: 'PUT', path: at(id, 'revisions', revision, 'restore'), ...match(options) }),
    async blame(id, { signal } = {}) {
      const { data } = await ask<{ readonly data: readonly Blame[] }>({ method: 'GET', path: at(id, 'blame'), signal });
      return data;
    },
    changes: (options = {}) => followChanges(transport, `${base}/changes`, options),
  };
}
