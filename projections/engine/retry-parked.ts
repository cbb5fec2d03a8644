import type { EventStore } from '../../application/ports/event-store.ts';
import { isTransient, reasonOf } from '../../application/ports/transient-errors.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, type RecordedEvent, parsePosition } from '../../domain/event.ts';
import type { Database, Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import { applyUntil } from './apply-until.ts';
import { deleteParked, isOfOneStream, parkStream, positionsOf, readParked, scopesOf, waits } from './parked-streams.ts';
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
          applyOrPark(tx, projection, { events: events.filter(isDue), parked, resumeAfter: record.resumeAfter }),
      });
      return parked.has(stream) ? 'parked' : 'applied';
    },
    { workClass: 'unlimited' },
  );
}

/** Applies the events that do not wait. Halves the events after an error, until its event is alone and is parked. */
async function applyOrPark(
  tx: Transaction,
  projection: Projection,
  {
    events,
    parked,
    resumeAfter,
  }: {
    readonly events: readonly RecordedEvent[];
    readonly parked: Map<string, GlobalPosition>;
    readonly resumeAfter: GlobalPosition;
  },
): Promise<void> {
  const due = events.filter((event) => !waits(event, parked, projection));
  const [first] = due;
  if (!first) return;
  const names = namesOf(projection);
  await tx.query('savepoint parked_events');
  try {
    await projection.apply(tx, { schema: quoteIdentifier(names.live) }, due);
    await tx.query('release savepoint parked_events');
  } catch (error) {
    if (!isOfOneStream(error)) throw error;
    await tx.query('rollback to savepoint parked_events');
    await tx.query('release savepoint parked_events');
    if (due.length === 1) {
      parked.set(first.stream, first.position);
      await parkStream(tx, { projection: names.checkpoint, event: first, resumeAfter, reason: reasonOf(error) });
      return;
    }
    const half = Math.floor(due.length / 2);
    await applyOrPark(tx, projection, { events: due.slice(0, half), parked, resumeAfter });
    await applyOrPark(tx, projection, { events: due.slice(half), parked, resumeAfter });
  }
}
