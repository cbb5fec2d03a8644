import type { EventStore } from '../../application/ports/event-store.ts';
import { isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type RecordedEvent, parsePosition } from '../../domain/event.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyOrPark } from './apply-or-park.ts';
import { applyUntil } from './apply-until.ts';
import { deleteParked, parkStream, positionsOf, readParked, scopesOf } from './parked-streams.ts';
import type { Projection } from './projection.ts';
import { installedVersion, lockSchemas, namesOf } from './read-model-schemas.ts';
import { fenceProjector } from './swap.ts';

export type RetryOptions = {
  readonly database: Database;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  readonly projection: Projection;
  readonly stream: string;
  readonly signal: AbortSignal;
};

/** `applied`: all events. `parked`: the stream is parked again, at the same event or a later one. */
export type RetryOutcome = 'applied' | 'parked' | 'not_parked';

/**
 * Applies the events that wait for a parked stream, in the order of the log, up to the checkpoint of the read model, in
 * the transaction that deletes the record. An event of these that cannot be applied parks its own stream. The
 * projector waits for the end of the transaction and then begins again under a new lease, with the new records.
 */
export async function retryParked(options: RetryOptions): Promise<RetryOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await retryOnce(options);
    } catch (error) {
      // A batch of the projector may hold the rows; it is refused after this transaction has changed the epoch.
      if (options.signal.aborted || attempt === 5 || !isTransient(error)) throw error;
    }
  }
}

async function retryOnce({ database, eventStore, projection, stream, signal }: RetryOptions): Promise<RetryOutcome> {
  const names = namesOf(projection);
  return database.outerTransaction(
    async (tx) => {
      await lockSchemas(tx, projection.name);
      if ((await installedVersion(tx, projection.name)) !== projection.version) throw refusal('unavailable');
      const [checkpoint] = await tx.query<{ position: string }>(
        'select position from operational.checkpoints where name = $1 for update',
        [names.checkpoint],
      );
      const until = parsePosition(checkpoint?.position ?? '');
      const records = await readParked(tx, names.checkpoint);
      const record = records.find((one) => one.stream === stream);
      if (!record || !until) return 'not_parked';
      const epoch = await fenceProjector(tx, names.lease, 'retry');
      await tx.execute('update operational.checkpoints set epoch = $2 where name = $1', [names.checkpoint, epoch]);
      await deleteParked(tx, names.checkpoint, stream);

      const parked = positionsOf(records.filter((one) => one !== record));
      const isDue = (event: RecordedEvent): boolean =>
        event.position >= record.position && scopesOf(event, projection).includes(stream);
      await applyUntil({
        eventStore,
        filter: { categories: projection.categories, tenant: record.tenant },
        after: record.resumeAfter,
        until,
        signal,
        retry: false,
        commit: (events) =>
          applyOrPark(
            tx,
            { events: events.filter(isDue), parked },
            {
              projection,
              apply: (part) => projection.apply(tx, { schema: quoteIdentifier(names.live) }, part),
              park: (event, error) =>
                parkStream(tx, {
                  projection: names.checkpoint,
                  event,
                  resumeAfter: record.resumeAfter,
                  reason: reasonOf(error),
                }),
            },
          ),
      });
      return parked.has(stream) ? 'parked' : 'applied';
    },
    { workClass: 'unlimited' },
  );
}
