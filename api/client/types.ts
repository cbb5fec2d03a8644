import type { components, operations } from './operations.ts';

/** Anything that JSON says. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Field values of entries whose content type is not known. */
export type AnyData = { readonly [field: string]: Json };

/** An entry as the service answers it. `status` and `published_at` only with drafts. */
export type Entry<Data = AnyData> = Omit<components['schemas']['Entry'], 'data'> & { readonly data: Data };

/** A value, or conditions that must all hold: `{ $gte: 3, $lt: 10 }`. */
export type Filter = Scalar | { readonly [operator in Operator]?: Scalar | readonly Scalar[] };
type Scalar = string | number | boolean;
type Operator = '$eq' | '$ne' | '$gt' | '$gte' | '$lt' | '$lte' | '$in' | '$notIn' | '$contains' | '$startsWith' | '$endsWith' | '$between' | '$null' | '$notNull';

/** Ends a request. */
export type RequestOptions = { readonly signal?: AbortSignal };

/** How single entries are read. */
export type ReadOptions<Data> = RequestOptions & {
  /** Members of `data` to answer; default: all. */
  readonly fields?: readonly NameOf<Data>[];
  /** Relations to answer as whole entries; `*`: all. */
  readonly populate?: readonly string[] | '*';
  /** 1 to 3. */
  readonly depth?: number;
  /** A moment of the past. */
  readonly asOf?: string | Date;
  readonly locale?: string;
};

/** How entries are looked for. */
export type FindOptions<Data> = ReadOptions<Data> & {
  readonly filters?: { readonly [field: string]: Filter };
  /** Names of fields, descending with `-` before them. */
  readonly sort?: string | readonly string[];
  /** Words to find. */
  readonly q?: string;
  readonly limit?: number;
};

export type ListOptions<Data> = FindOptions<Data> & { readonly offset?: number };
export type PageOptions<Data> = FindOptions<Data> & { readonly cursor?: string };

/** `ifMatch`: only while this is still the entry's version, else `entry_changed`. */
export type WriteOptions = RequestOptions & { readonly ifMatch?: number };
/** Sent again, a creation with the same key is done once. */
export type CreateOptions = RequestOptions & { readonly idempotencyKey?: string };

export type ChangesOptions = RequestOptions & {
  /** Position of the last change that was seen; default: the beginning. */
  readonly after?: string;
  /**
   * `false`: ends with what there is now. `poll`: goes on asking. `stream`: the service sends changes as they come. Default `false`.
   */
  readonly live?: false | 'poll' | 'stream';
  /** Changes a request when not streaming. */
  readonly limit?: number;
  /** Milliseconds between questions that found nothing. Default 1,000. */
  readonly pollMs?: number;
};

/** An entry in a change: its field values, with `id`, `status` and `slug`. */
export type Envelope<Data = AnyData> = Data & { readonly id: string };

type WireChange = operations['readChanges']['responses']['200']['content']['application/json']['data'][number];

/** One change of an entry. */
export type Change<Data = AnyData> = Omit<WireChange, 'data' | 'old_data'> & { readonly data: Envelope<Data> | null; readonly old_data: Envelope<Data> | null };

type Answer<Operation extends keyof operations> = operations[Operation] extends { responses: { 200: { content: { 'application/json': infer Body } } } } ? Body : never;

export type Revision = Answer<'listRevisions'>[number];
export type RevisionWithData<Data = AnyData> = Omit<Answer<'getRevision'>, 'data'> & { readonly data: Data };
export type Difference = Answer<'diffRevisions'>['changes'][number];
export type Blame = Answer<'blameEntry'>['data'][number];

/** A page of the cursor list; an empty `next_cursor` is the last one's. */
export type Page<Data> = { readonly data: readonly Entry<Data>[]; readonly next_cursor: string };

type NameOf<Data> = keyof Data & string;
