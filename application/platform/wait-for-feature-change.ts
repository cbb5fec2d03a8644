import type { GlobalPosition } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import type { Features } from './features.ts';

/** Name of the read model that holds the configurations of features. */
export const PLATFORM = 'platform';

/** Ports of the commands on features. */
export type FeatureChangeDependencies = {
  readonly eventStore: EventStore;
  readonly features: Pick<Features, 'reload'>;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
};

/**
 * Waits until this process uses the settings written at `position`, at most 5 seconds. Other processes reload them on
 * their own. Undefined: nothing was written; returns at once.
 */
export async function waitForFeatureChange(
  position: GlobalPosition | undefined,
  { features, progress }: Pick<FeatureChangeDependencies, 'features' | 'progress'>,
): Promise<void> {
  if (position === undefined) return;
  await waitForReadModel({ name: PLATFORM, position }, { progress });
  await features.reload();
}
