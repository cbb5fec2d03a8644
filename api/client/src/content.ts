import { followChanges } from './changes.ts';
import { plainQuery, queryOf } from './query.ts';
import type { ClientRequest, Transport } from './transport.ts';
import type {
  Blame,
  Change,
  ChangesOptions,
  CreateOptions,
  Difference,
  Entry,
  FindOptions,
  ListOptions,
  Page,
  PageOptions,
  ReadOptions,
  RequestOptions,
  Revision,
  RevisionWithData,
  WriteOptions,
  WrittenEntry,
} from './types.ts';

/**
 * The entries of one content type. Every method rejects with a `PalimpsestError` when the service refuses the request.
 */
export type Content<Data, Input> = {
  /**
   * At most `limit` entries: 1 to 200, 25 by default. If the content type has drafts, only published entries, unless a
   * filter on `_status` asks for others.
   */
  readonly list: (options?: ListOptions<Data>) => Promise<readonly Entry<Data>[]>;
  /** Number of matching entries. */
  readonly count: (
    options?: Omit<FindOptions<Data>, 'limit' | 'sort' | 'fields' | 'populate' | 'depth'>,
  ) => Promise<number>;
  /** One page of the list by cursor. */
  readonly page: (options?: PageOptions<Data>) => Promise<Page<Data>>;
  /**
   * All matching entries, read page by page. Each entry is returned once, even if entries change in the meantime.
   * `limit` is the number of entries per page, 100 by default.
   */
  readonly cursor: (options?: PageOptions<Data>) => AsyncGenerator<Entry<Data>, void, undefined>;
  readonly get: (id: string, options?: ReadOptions<Data>) => Promise<Entry<Data>>;
  readonly create: (data: Input, options?: CreateOptions) => Promise<WrittenEntry<Data>>;
  /** Creates 1 to 1,000 entries: all of them or none. */
  readonly bulk: (items: readonly Input[], options?: CreateOptions) => Promise<readonly WrittenEntry<Data>[]>;
  /** Changes the given fields and keeps the others. */
  readonly update: (id: string, data: Partial<Input>, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  readonly delete: (id: string, options?: WriteOptions) => Promise<void>;
  readonly publish: (id: string, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  readonly unpublish: (id: string, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  readonly archive: (id: string, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  readonly unarchive: (id: string, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  /** Restores a softly deleted entry. */
  readonly undelete: (id: string, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  /** The entries that a relation links to, in the order of the links. */
  readonly related: <Related = Data>(
    id: string,
    field: string,
    options?: RequestOptions & { readonly limit?: number; readonly offset?: number },
  ) => Promise<{ readonly data: readonly Entry<Related>[]; readonly total: number }>;
  /** Replaces the links of a relation. */
  readonly link: (
    id: string,
    field: string,
    ids: readonly string[],
    options?: WriteOptions,
  ) => Promise<WrittenEntry<Data>>;
  /** The revisions of an entry, newest first. */
  readonly revisions: (
    id: string,
    options?: RequestOptions & { readonly limit?: number; readonly offset?: number },
  ) => Promise<readonly Revision[]>;
  /** One revision by its id or version. */
  readonly revision: (
    id: string,
    revision: string | number,
    options?: RequestOptions,
  ) => Promise<RevisionWithData<Data>>;
  readonly diff: (
    id: string,
    a: string | number,
    b: string | number,
    options?: RequestOptions,
  ) => Promise<readonly Difference[]>;
  readonly restore: (id: string, revision: string | number, options?: WriteOptions) => Promise<WrittenEntry<Data>>;
  /** For each field, the author of its current value. */
  readonly blame: (id: string, options?: RequestOptions) => Promise<readonly Blame[]>;
  /** The changes of the content type in the order of the log, deletions included. */
  readonly changes: (options?: ChangesOptions) => AsyncGenerator<Change<Data>, void, undefined>;
};

/** Generates idempotency keys. Undefined: creations are sent without one. */
export type NewKey = (() => string) | undefined;

/** Binds the operations to one content type. */
export function contentOf<Data, Input>(
  name: string,
  { transport, newKey }: { readonly transport: Transport; readonly newKey: NewKey },
): Content<Data, Input> {
  const base = `/api/v1/content/${encodeURIComponent(name)}`;
  const at = (id: string, ...rest: readonly (string | number)[]): string =>
    [base, ...[id, ...rest].map((part) => encodeURIComponent(part))].join('/');

  /** Trusts the service to respond as its OpenAPI document states, from which the types are generated. */
  async function ask<T>(request: ClientRequest): Promise<T> {
    const { body } = await transport.request(request);
    return body as T;
  }

  const match = ({ ifMatch, signal }: WriteOptions): Pick<ClientRequest, 'headers' | 'signal'> => ({
    headers: ifMatch === undefined ? {} : { 'If-Match': `"${ifMatch}"` },
    signal,
  });
  const created = ({
    idempotencyKey = newKey?.(),
    signal,
  }: CreateOptions): Pick<ClientRequest, 'headers' | 'signal'> => ({
    headers: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey },
    signal,
  });
  const move =
    (verb: string) =>
    (id: string, options: WriteOptions = {}) =>
      ask<WrittenEntry<Data>>({ method: 'PUT', path: at(id, verb), ...match(options) });
  const page = ({ signal, ...options }: PageOptions<Data> = {}) =>
    ask<Page<Data>>({ method: 'GET', path: `${base}/cursor${queryOf(options)}`, signal });

  async function* cursor(options: PageOptions<Data> = {}): AsyncGenerator<Entry<Data>, void, undefined> {
    let next = options.cursor;
    for (;;) {
      const { data, next_cursor } = await page({
        limit: 100,
        ...options,
        ...(next === undefined ? {} : { cursor: next }),
      });
      yield* data;
      if (next_cursor === '') return;
      next = next_cursor;
    }
  }

  return {
    list: ({ signal, ...options } = {}) => ask({ method: 'GET', path: base + queryOf(options), signal }),
    async count({ signal, ...options } = {}) {
      const { headers } = await transport.request({
        method: 'GET',
        path: base + queryOf({ ...options, limit: 1 }, { count: true }),
        signal,
      });
      return Number(headers.get('x-total-count') ?? Number.NaN);
    },
    page,
    cursor,
    get: (id, { signal, ...options } = {}) => ask({ method: 'GET', path: at(id) + queryOf(options), signal }),
    create: (data, options = {}) => ask({ method: 'POST', path: base, body: { data }, ...created(options) }),
    async bulk(items, options = {}) {
      const { data } = await ask<{ readonly data: readonly WrittenEntry<Data>[] }>({
        method: 'POST',
        path: `${base}/bulk`,
        body: { entries: items.map((data) => ({ data })) },
        ...created(options),
      });
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
    related: (id, field, { signal, limit, offset } = {}) =>
      ask({ method: 'GET', path: at(id, 'relations', field) + plainQuery({ limit, offset }), signal }),
    link: (id, field, ids, options = {}) =>
      ask({ method: 'PUT', path: at(id, 'relations', field), body: { ids }, ...match(options) }),
    revisions: (id, { signal, limit, offset } = {}) =>
      ask({ method: 'GET', path: at(id, 'revisions') + plainQuery({ limit, offset }), signal }),
    revision: (id, revision, { signal } = {}) => ask({ method: 'GET', path: at(id, 'revisions', revision), signal }),
    async diff(id, a, b, { signal } = {}) {
      const { changes } = await ask<{ readonly changes: readonly Difference[] }>({
        method: 'GET',
        path: at(id, 'revisions', a, 'diff', b),
        signal,
      });
      return changes;
    },
    restore: (id, revision, options = {}) =>
      ask({ method: 'PUT', path: at(id, 'revisions', revision, 'restore'), ...match(options) }),
    async blame(id, { signal } = {}) {
      const { data } = await ask<{ readonly data: readonly Blame[] }>({ method: 'GET', path: at(id, 'blame'), signal });
      return data;
    },
    changes: (options = {}) => followChanges(`${base}/changes`, options, transport),
  };
}
