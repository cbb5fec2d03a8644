import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForHead } from '../wait-for-read-model.ts';
import { IDENTITY } from './identity-read-model.ts';

/** Runs one command at a time in the installation, on a current read model. */
export type ExclusiveDependencies = {
  readonly exclusive: Exclusive;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
};

/**
 * Runs a decision that depends on several streams, such as a cap or the last super admin. No other process of the
 * installation runs a decision with the same name meanwhile, and the identity read model has applied every event
 * appended before the decision.
 * @throws `not_caught_up` when the read model lags for more than 5 seconds
 */
export function runExclusively<T>(
  { name, work }: { readonly name: string; readonly work: () => Promise<T> },
  { exclusive, eventStore, progress }: ExclusiveDependencies,
): Promise<T> {
  return exclusive(name, async () => {
    await waitForHead({ name: IDENTITY }, { eventStore, progress });
    return work();
  });
}
