import type { EventFilter, ReadAllOptions, ReadStreamOptions } from '../../../application/ports/event-store.ts';
import { ORIGIN, type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { Database } from '../../postgres/database.ts';
import { isEventId } from '../encode-append.ts';
import { EVENT_BYTES, PAGE_BYTES } from '../event-bytes.ts';
import { refusalOf } from './failures.ts';
import type { LogPage } from './log-page.ts';

/** Maximum number of events in one page of a read. */
const PAGE = 500;
/**
 * Positions that one read of a subscription covers, as a multiple of the number of events requested. The limit ensures
 * that a filtered read always makes progress. If PostgreSQL sorts the whole window instead of scanning the index, as it
 * may on a large log, it reads at most twice the rows needed.
 */
const WINDOW = 2;

const COLUMNS =
  'e.position, e.revision, e.recorded_at, e.id, e.stream, e.type, e.data, e.metadata, e.following, octet_length(e.data::text) as bytes';

/**
 * At most `limit` events in an order, of which the last one begins within `PAGE_BYTES`. A page with fewer bytes is
 * complete.
 */
function pageSql({
  where,
  order,
  limit,
}: {
  readonly where: string;
  readonly order: string;
  readonly limit: string;
}): string {
  return `select * from (
    select ${COLUMNS}, sum(octet_length(e.data::text)) over (order by ${order} rows unbounded preceding) as running
    from eventstore.events e where ${where} order by ${order} limit ${limit}
  ) w where w.running - w.bytes < ${String(PAGE_BYTES)}`;
}

/** What the functions of the store depend on. */
export type StoreDependencies = { readonly database: Database };

type Row = {
  readonly position: number;
  readonly revision: number;
  readonly recorded_at: Date;
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly data: RecordedEvent['data'];
  readonly metadata: RecordedEvent['metadata'];
  readonly following: number;
  readonly bytes: number;
};

/**
 * Conditions for visible events of a stream. Scalar subqueries: a stream without a row in `stream_states` costs one
 * lookup in a small index.
 */
const VISIBLE = `e.revision >= coalesce((select greatest(z.hidden_before, z.truncate_before, (
    select l.revision + 1 from eventstore.events l where l.stream = $1 order by l.stream desc, l.revision desc limit 1
  ) - z.max_count)
    from eventstore.stream_states z where z.stream = $1), 0)
  and e.recorded_at > coalesce((select now() - make_interval(secs => z.max_age_seconds) from eventstore.stream_states z
    where z.stream = $1 and z.max_age_seconds is not null), '-infinity')`;

const STREAM_FORWARDS = pageSql({
  where: `e.stream = $1 and e.revision >= $2 and ${VISIBLE}`,
  order: 'e.stream, e.revision',
  limit: '$3',
});
const STREAM_BACKWARDS = pageSql({
  where: `e.stream = $1 and e.revision <= $2 and ${VISIBLE}`,
  order: 'e.stream desc, e.revision desc',
  limit: '$3',
});

/** Greater than every revision and position. */
const END = Number.MAX_SAFE_INTEGER;

/** Reads the events of one stream; see `EventStore.readStream`. One prepared statement per page. */
export async function* readStream(
  stream: string,
  { from, direction = 'forwards', limit = Infinity, signal }: ReadStreamOptions = {},
  { database }: StoreDependencies,
): AsyncIterable<RecordedEvent> {
  const forwards = direction === 'forwards';
  const sql = forwards ? STREAM_FORWARDS : STREAM_BACKWARDS;
  const name = forwards ? 'eventstore_stream_forwards' : 'eventstore_stream_backwards';
  let next = from ?? (forwards ? 0 : END);
  let left = limit;
  let size = PAGE;
  while (left > 0 && next >= 0) {
    signal?.throwIfAborted();
    const requested = Math.min(left, size);
    const rows = await attempt(database.query<Row>(sql, [stream, next, requested], name));
    for (const row of rows) yield eventOf(row);
    const last = rows.at(-1);
    if (!last || (rows.length < requested && sizeOf(rows) < PAGE_BYTES)) return;
    left -= rows.length;
    next = forwards ? last.revision + 1 : last.revision - 1;
    size = fittingSize(rows);
  }
}

/** Reads the events of the log; see `EventStore.readAll`. */
export async function* readAll(
  { after, direction = 'forwards', limit = Infinity, filter, signal }: ReadAllOptions = {},
  { database }: StoreDependencies,
): AsyncIterable<RecordedEvent> {
  const forwards = direction === 'forwards';
  const { conditions, values, shape } = conditionsOf(filter, 3);
  const sql = pageSql({
    where: `e.position ${forwards ? '>' : '<'} $1 ${conditions}`,
    order: forwards ? 'e.position' : 'e.position desc',
    limit: '$2',
  });
  let next = after === undefined ? (forwards ? 0 : END) : numberOf(after);
  let left = limit;
  let size = PAGE;
  while (left > 0) {
    signal?.throwIfAborted();
    const requested = Math.min(left, size);
    const rows = await attempt(
      database.query<Row>(sql, [next, requested, ...values], `eventstore_all_${direction}${shape}`),
    );
    for (const row of rows) yield eventOf(row);
    const last = rows.at(-1);
    if (!last || (rows.length < requested && sizeOf(rows) < PAGE_BYTES)) return;
    left -= rows.length;
    next = last.position;
    size = fittingSize(rows);
  }
}

/**
 * Reads one section of the log after a position. One statement reads head and events, so that no event can appear in
 * the section later.
 * @throws the errors of the driver unchanged, so that the caller can decide whether to retry
 */
export async function readPage(
  {
    after,
    limit,
    filter,
  }: { readonly after: number; readonly limit: number; readonly filter?: EventFilter | undefined },
  { database }: StoreDependencies,
): Promise<LogPage> {
  const { conditions, values, shape } = conditionsOf(filter, 3);
  const sql = `select x.upto, e.*
    from (select least(h.position, $1::bigint + $2::bigint * ${WINDOW}) as upto from eventstore.head h) x
    left join lateral (${pageSql({
      where: `e.position > $1 and e.position <= x.upto ${conditions}`,
      order: 'e.position',
      limit: '$2',
    })}) e on true`;
  const rows = await database.query<(Row | { readonly position: null }) & { readonly upto: number }>(
    sql,
    [after, limit, ...values],
    `eventstore_page${shape}`,
  );
  const found = rows.filter((row) => row.position !== null);
  const size = sizeOf(found);
  const isCut = found.length >= limit || size >= PAGE_BYTES;
  return {
    after,
    to: Math.max(after, (isCut ? found.at(-1)?.position : rows[0]?.upto) ?? 0),
    events: found.map(eventOf),
    bytes: size + found.length * EVENT_BYTES,
  };
}

/** Size of the data of events, in bytes. */
function sizeOf(rows: readonly { readonly bytes: number }[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Number of events for the next page, estimated from the sizes of the events read. */
function fittingSize(read: readonly { readonly bytes: number }[], most = PAGE): number {
  const bytes = sizeOf(read);
  return Math.max(1, Math.min(most, Math.floor((PAGE_BYTES * read.length) / Math.max(1, bytes))));
}

const ONE = `select ${COLUMNS} from eventstore.events e where e.id = $1 order by e.position limit 1`;
/** See `EventStore.findEvent`. Returns the first event in the log if several streams contain the id. */
export async function findEvent(id: string, { database }: StoreDependencies): Promise<RecordedEvent | undefined> {
  if (!isEventId(id)) return undefined;
  const [row] = await attempt(database.query<Row>(ONE, [id], 'eventstore_find'));
  return row && eventOf(row);
}

/** @returns the position of the last event of the log; 0 when it is empty */
export async function readHead({ database }: StoreDependencies): Promise<number> {
  const rows = await database.query<{ position: number }>(
    'select position from eventstore.head',
    [],
    'eventstore_head',
  );
  return rows[0]?.position ?? 0;
}

/** Converts a position to a number. Positions of other stores may exceed every position of this store. */
export function numberOf(position: string): number {
  return Math.min(Number(position), END);
}

function conditionsOf(
  filter: EventFilter | undefined,
  first: number,
): { readonly conditions: string; readonly values: readonly unknown[]; readonly shape: string } {
  const parts: readonly (readonly [letter: string, condition: string, value: unknown])[] = [
    ['c', 'e.category = any(?)', filter?.categories],
    ['y', 'e.type = any(?)', filter?.types],
    ['t', 'e.tenant = ?', filter?.tenant],
    ['r', 'e.correlation_id = ?', filter?.correlationId],
    ['a', `(e.metadata -> 'actor' ->> 'id') = ?`, filter?.actor],
  ];
  const conditions = parts.filter(([, , value]) => value !== undefined);
  return {
    conditions: conditions
      .map(([, condition], index) => `and ${condition.replace('?', `$${first + index}`)}`)
      .join(' '),
    values: conditions.map(([, , value]) => value),
    shape: conditions.length === 0 ? '' : `_${conditions.map(([letter]) => letter).join('')}`,
  };
}

function eventOf({ id, type, data, metadata, stream, revision, position, recorded_at, following }: Row): RecordedEvent {
  return {
    id,
    type,
    data,
    metadata,
    stream,
    revision,
    position: position === 0 ? ORIGIN : positionFrom(position),
    recorded_at: recorded_at.toISOString(),
    ...(following > 0 ? { append_end: positionFrom(position + following) } : {}),
  };
}

/** Reads have no effect, so every failure may be retried. */
async function attempt<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw refusalOf(error);
  }
}
