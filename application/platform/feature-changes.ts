import type { GlobalPosition } from '../../domain/event.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Features } from './features.ts';

/** Read model of features. */
export const PLATFORM = 'platform';

/** What commands on features work with. */
export type FeatureChanges = {
  readonly eventStore: EventStore;
  readonly features: Pick<Features, 'reload'>;
  readonly progress: { waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean> };
};

const WAIT_MS = 5_000;

/** Waits until this process goes by what was just written; other processes hear of it by themselves. */
export async function settled({ features, progress }: FeatureChanges, position: GlobalPosition | undefined): Promise<void> {
  if (position === undefined) return;
  await progress.waitFor([PLATFORM], position, WAIT_MS);
  await features.reload();
}
