import type { Expected, Retention, StreamInfo } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import { conflictRefusal } from '../conflict.ts';
import { checkExpected, checkRetention } from '../encode-append.ts';
import { expectedCode } from './batch.ts';
import { refusalOf } from './failures.ts';
import type { StoreDependencies } from './reader.ts';

type InfoRow = {
  readonly revision: number;
  readonly tombstoned: boolean | null;
  readonly deleted: boolean | null;
  readonly max_count: number | null;
  readonly max_age_seconds: number | null;
  readonly truncate_before: number | null;
};

const INFO = `select l.revision, z.tombstoned, not z.tombstoned and z.hidden_before > l.revision as deleted,
  z.max_count, z.max_age_seconds, z.truncate_before
  from (select coalesce((
    select e.revision from eventstore.events e where e.stream = $1 order by e.stream desc, e.revision desc limit 1
  ), -1) as revision) l
  left join eventstore.stream_states z on z.stream = $1`;

/** See `EventStore.streamInfo`. */
export async function readStreamInfo(stream: string, { database }: StoreDependencies): Promise<StreamInfo | undefined> {
  const rows = await database.query<InfoRow>(INFO, [stream], 'eventstore_stream_info').catch((error: unknown) => {
    throw refusalOf(error);
  });
  const row = rows[0];
  if (!row || (row.revision < 0 && row.tombstoned !== true)) return undefined;
  return {
    state: row.tombstoned ? 'tombstoned' : row.deleted ? 'deleted' : 'active',
    revision: row.revision,
    retention: {
      ...(row.max_count === null ? {} : { maxCount: row.max_count }),
      ...(row.max_age_seconds === null ? {} : { maxAgeSeconds: row.max_age_seconds }),
      ...(row.truncate_before === null ? {} : { truncateBefore: row.truncate_before }),
    },
  };
}

/** See `EventStore.setRetention`. */
export async function setRetention(
  stream: string,
  retention: Retention,
  { database }: StoreDependencies,
): Promise<void> {
  checkRetention(retention);
  const { maxCount = null, maxAgeSeconds = null, truncateBefore = null } = retention;
  const rows = await database
    .query<{ r_outcome: string }>('select r_outcome from eventstore.set_retention($1, $2, $3, $4)', [
      stream,
      maxCount,
      maxAgeSeconds,
      truncateBefore,
    ])
    .catch((error: unknown) => {
      throw refusalOf(error);
    });
  if (rows[0]?.r_outcome !== 'o') throw refusal('stream_deleted');
}

/** See `EventStore.deleteStream`. */
export async function deleteStream(
  stream: string,
  { expected, mode }: { readonly expected: Expected; readonly mode: 'soft' | 'tombstone' },
  { database }: StoreDependencies,
): Promise<void> {
  checkExpected(expected);
  const rows = await database
    .query<{ r_outcome: string; r_revision: number }>(
      'select r_outcome, r_revision from eventstore.delete_stream($1, $2, $3)',
      [stream, expectedCode(expected), mode === 'tombstone'],
    )
    .catch((error: unknown) => {
      throw refusalOf(error);
    });
  const row = rows[0];
  if (row?.r_outcome === 'x') throw refusal('stream_deleted');
  if (row?.r_outcome !== 'o') throw conflictRefusal({ stream, expected, actual: row?.r_revision });
}
