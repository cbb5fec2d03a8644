import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import { isOfOneStream, waitsForParkedStream } from './parked-streams.ts';
import type { Projection } from './projection.ts';

export type ApplyOrParkDependencies = {
  readonly projection: Pick<Projection, 'dependsOn'>;
  /** Writes the rows of events in the same transaction. */
  readonly apply: (events: readonly RecordedEvent[]) => Promise<void>;
  /** Records that the stream of an event is parked from this event on. Its error ends the work. */
  readonly park: (event: RecordedEvent, error: unknown) => Promise<void> | void;
};

/**
 * Applies the events that wait for no parked stream, in one transaction. Halves the events after an error, until its
 * event is alone, and parks the stream of that event.
 * @param parked gets the streams that are parked
 * @throws errors that concern more than one stream
 */
export async function applyOrPark(
  tx: Transaction,
  { events, parked }: { readonly events: readonly RecordedEvent[]; readonly parked: Map<string, GlobalPosition> },
  dependencies: ApplyOrParkDependencies,
): Promise<void> {
  const { projection, apply, park } = dependencies;
  const due = events.filter((event) => !waitsForParkedStream(event, parked, projection));
  const [first] = due;
  if (!first) return;
  await tx.query('savepoint parked_events');
  try {
    await apply(due);
    await tx.query('release savepoint parked_events');
  } catch (error) {
    if (!isOfOneStream(error)) throw error;
    await tx.query('rollback to savepoint parked_events');
    await tx.query('release savepoint parked_events');
    if (due.length === 1) {
      await park(first, error);
      parked.set(first.stream, first.position);
      return;
    }
    const half = Math.floor(due.length / 2);
    await applyOrPark(tx, { events: due.slice(0, half), parked }, dependencies);
    await applyOrPark(tx, { events: due.slice(half), parked }, dependencies);
  }
}
