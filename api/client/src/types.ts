import type { components, operations } from '../generated/operations.ts';

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Field values of entries whose content type is unknown at compile time. */
export type AnyData = { readonly [field: string]: Json };

/** An entry. `status` and `published_at` exist only if the content type has drafts. */
export type Entry<Data = AnyData> = Omit<components['schemas']['Entry'], 'data'> & { readonly data: Data };

/**
 * An entry after a write. A caller that may write the entry but not read it gets `id`, `version` and `status` only.
 * `status` and `published_at` exist only if the content type has drafts.
 */
export type WrittenEntry<Data = AnyData> = Omit<components['schemas']['WrittenEntry'], 'data'> & {
  readonly data?: Data;
};

/** An equal value, or conditions that must all hold: `{ $gte: 3, $lt: 10 }`. */
export type Filter = Scalar | { readonly [operator in Operator]?: Scalar | readonly Scalar[] };
type Scalar = string | number | boolean;
type Operator =
  | '$eq'
  | '$ne'
  | '$gt'
  | '$gte'
  | '$lt'
  | '$lte'
  | '$in'
  | '$notIn'
  | '$contains'
  | '$startsWith'
  | '$endsWith'
  | '$between'
  | '$null'
  | '$notNull';

/** `signal` aborts the request. */
export type RequestOptions = { readonly signal?: AbortSignal };

/** Options of reading one entry. */
export type ReadOptions<Data> = RequestOptions & {
  /** Members of `data` to return. Default: all. */
  readonly fields?: readonly NameOf<Data>[];
  /** Relations to return as whole entries. `*`: all. */
  readonly populate?: readonly string[] | '*';
  /** Levels of relations to return as whole entries, 1 to 3. */
  readonly depth?: number;
  /** Reads the entry as it was at this time. */
  readonly asOf?: string | Date;
  readonly locale?: string;
};

/** Options of finding entries. */
export type FindOptions<Data> = ReadOptions<Data> & {
  readonly filters?: { readonly [field: string]: Filter };
  /** Field names; a leading `-` sorts in descending order. */
  readonly sort?: string | readonly string[];
  /** Text to search for. */
  readonly q?: string;
  readonly limit?: number;
};

export type ListOptions<Data> = FindOptions<Data> & { readonly offset?: number };
export type PageOptions<Data> = FindOptions<Data> & { readonly cursor?: string };

/** With `ifMatch`, the service refuses the write with `entry_changed` unless this is the entry's current version. */
export type WriteOptions = RequestOptions & { readonly ifMatch?: number };
/** The service carries out creations with the same key once. */
export type CreateOptions = RequestOptions & { readonly idempotencyKey?: string };

export type ChangesOptions = RequestOptions & {
  /** Position of the last change already read. Default: the start of the log. */
  readonly after?: string;
  /**
   * `false`: ends at the current end of the log. `poll`: keeps polling. `stream`: receives changes as server-sent
   * events. Default `false`.
   */
  readonly live?: false | 'poll' | 'stream';
  /** Changes per request when not streaming. */
  readonly limit?: number;
  /** Milliseconds to wait after a poll without changes. Default 1,000. */
  readonly pollMs?: number;
};

/** An entry in a change: its field values, with `id`, `status` and `slug`. */
export type Envelope<Data = AnyData> = Data & { readonly id: string };

type WireChange = operations['readChanges']['responses']['200']['content']['application/json']['data'][number];

/** One change of an entry. */
export type Change<Data = AnyData> = Omit<WireChange, 'data' | 'old_data'> & {
  readonly data: Envelope<Data> | null;
  readonly old_data: Envelope<Data> | null;
};

type ResponseBody<Operation extends keyof operations> = operations[Operation] extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

export type Revision = ResponseBody<'listRevisions'>[number];
export type RevisionWithData<Data = AnyData> = Omit<ResponseBody<'getRevision'>, 'data'> & { readonly data: Data };
export type Difference = ResponseBody<'diffRevisions'>['changes'][number];
export type Blame = ResponseBody<'blameEntry'>['data'][number];

/** A page of the list by cursor. `next_cursor` is empty on the last page. */
export type Page<Data> = { readonly data: readonly Entry<Data>[]; readonly next_cursor: string };

type NameOf<Data> = keyof Data & string;
