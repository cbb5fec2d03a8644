import { isTransient } from '../../application/ports/transient-errors.ts';
import { isAppError } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent, parsePosition } from '../../domain/event.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';
import type { Projection } from './projection.ts';

/** A stream that a projection does not apply from an event on, because that event cannot be applied. */
export type ParkedStream = {
  /** Name of the checkpoint, such as `projection/content/2`. */
  readonly projection: string;
  readonly stream: string;
  readonly tenant: string;
  /** Of the first event that is not applied. */
  readonly revision: number;
  readonly position: GlobalPosition;
  /** A position before that event from which the log can be read. */
  readonly resumeAfter: GlobalPosition;
  /** Without values of events. */
  readonly reason: string;
  /** RFC 3339, UTC. */
  readonly parkedAt: string;
};

/** SQLSTATE classes of errors that the values or the definitions of one stream cause. */
const DATA_ERROR = /^(22|23|42)...$/;
/** A missing privilege, and missing tables or functions of the read model: they concern all streams. */
const OF_ALL_STREAMS = new Set(['42501', '42P01', '42883']);

/** Whether the error concerns the stream of the event only. Other errors stop the projector or are retried. */
export function isOfOneStream(error: unknown): boolean {
  if (!(error instanceof Error) || isTransient(error) || isAppError(error)) return false;
  if (!('code' in error) || typeof error.code !== 'string') return error.name !== 'AbortError';
  return DATA_ERROR.test(error.code) && !OF_ALL_STREAMS.has(error.code);
}

/** The parked streams of one projection, or of all live read models, by position. */
export async function readParked(queryable: Queryable, projection?: string): Promise<readonly ParkedStream[]> {
  const rows = await queryable.query<{
    projection: string;
    stream: string;
    tenant: string;
    revision: number;
    position: string;
    resume_after: string;
    reason: string;
    parked_at: Date;
  }>(
    `select projection, stream, tenant, revision, position, resume_after, reason, parked_at
     from operational.parked_streams
     where projection = $1 or ($1 is null and projection like 'projection/%') order by position, projection`,
    [projection ?? null],
  );
  return rows.map((row) => ({
    projection: row.projection,
    stream: row.stream,
    tenant: row.tenant,
    revision: row.revision,
    position: parsePosition(row.position) ?? ORIGIN,
    resumeAfter: parsePosition(row.resume_after) ?? ORIGIN,
    reason: row.reason,
    parkedAt: row.parked_at.toISOString(),
  }));
}

export async function countParked(queryable: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.query<{ projection: string; parked: number }>(
    `select projection, count(*)::int4 as parked from operational.parked_streams where projection like 'projection/%'
     group by 1 order by 1`,
  );
  return new Map(rows.map(({ projection, parked }) => [projection, parked]));
}

/** Records that the stream of the event is parked from this event on. */
export async function parkStream(
  queryable: Queryable,
  {
    projection,
    event: { stream, revision, position, metadata },
    resumeAfter,
    reason,
  }: {
    readonly projection: string;
    readonly event: RecordedEvent;
    readonly resumeAfter: GlobalPosition;
    readonly reason: string;
  },
): Promise<void> {
  await queryable.execute(
    `insert into operational.parked_streams (projection, stream, tenant, revision, position, resume_after, reason)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [projection, stream, metadata.tenant, revision, position, resumeAfter, reason],
  );
}

/** Deletes the records of a projection: of one stream, or of all. */
export async function deleteParked(queryable: Queryable, projection: string, stream?: string): Promise<void> {
  await queryable.execute(
    'delete from operational.parked_streams where projection = $1 and ($2::text is null or stream = $2)',
    [projection, stream ?? null],
  );
}

/** The streams that an event waits for while they are parked: its own, and those that it depends on. */
export function scopesOf(event: RecordedEvent, { dependsOn }: Pick<Projection, 'dependsOn'>): readonly string[] {
  return [event.stream, ...(dependsOn?.(event) ?? [])];
}

/** Whether an event waits, because one of its streams is parked at this event or before it. */
export function waitsForParkedStream(
  event: RecordedEvent,
  parked: ReadonlyMap<string, GlobalPosition>,
  projection: Pick<Projection, 'dependsOn'>,
): boolean {
  if (parked.size === 0) return false;
  return scopesOf(event, projection).some((stream) => {
    const since = parked.get(stream);
    return since !== undefined && since <= event.position;
  });
}

/** The position of the first event that is not applied, by stream. */
export function positionsOf(parked: readonly ParkedStream[]): Map<string, GlobalPosition> {
  return new Map(parked.map(({ stream, position }) => [stream, position]));
}
