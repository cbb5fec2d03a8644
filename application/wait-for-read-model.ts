import { refusal } from '../domain/errors.ts';
import type { GlobalPosition } from '../domain/event.ts';
import type { EventStore } from './ports/event-store.ts';
import type { ProjectionProgress } from './ports/projection-progress.ts';

const TIMEOUT_MS = 5_000;

/**
 * Waits until a read model has reached the position. @returns false when it has not after 5 seconds
 * @throws `projection_stopped` when it has stopped
 */
export function waitForReadModel(
  { name, position }: { readonly name: string; readonly position: GlobalPosition },
  { progress }: { readonly progress: Pick<ProjectionProgress, 'waitFor'> },
): Promise<boolean> {
  return progress.waitFor([name], position, TIMEOUT_MS);
}

/**
 * Waits until a read model has reached the current head of the log, so that a decision made on it knows every earlier
 * event.
 * @throws `not_caught_up` after 5 seconds, `projection_stopped`
 */
export async function waitForHead(
  { name }: { readonly name: string },
  {
    eventStore,
    progress,
  }: { readonly eventStore: Pick<EventStore, 'head'>; readonly progress: Pick<ProjectionProgress, 'waitFor'> },
): Promise<void> {
  const position = await eventStore.head();
  if (!(await waitForReadModel({ name, position }, { progress })))
    throw refusal('not_caught_up', { headers: { 'Retry-After': '1' } });
}
