import type { GlobalPosition } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Logger } from '../ports/logger.ts';
import { isOutage, reasonOf } from '../ports/transient-errors.ts';
import type { ErasePersonDependencies } from './erase-person.ts';
import { finishErasure } from './finish-erasure.ts';

/**
 * Finishes erasures whose event exists but whose data was not deleted completely, or came back with a restored backup.
 * The first run reads all erasures, each later run those since. An erasure that fails does not stop the others; the
 * next run reads it again.
 * @returns how many erasures had data left
 */
export function createErasureSweep({
  eventStore,
  vault,
  personal,
  logger,
}: Pick<ErasePersonDependencies, 'eventStore' | 'vault' | 'personal'> & {
  readonly logger: Pick<Logger, 'error'>;
}): () => Promise<number> {
  let after: GlobalPosition | undefined;
  return async () => {
    let finished = 0;
    let failed = 0;
    const head = await eventStore.head();
    for await (const { stream } of eventStore.readAll({
      filter: { categories: ['user'], types: ['UserErased'] },
      ...(after === undefined ? {} : { after }),
    })) {
      const userId = parseStream(stream)?.id;
      if (userId === undefined) continue;
      try {
        if (await finishErasure({ userId }, { eventStore, vault, personal })) finished += 1;
      } catch (error) {
        if (isOutage(error)) throw error;
        failed += 1;
        logger.error('an erasure could not be finished', { stream, reason: reasonOf(error) });
      }
    }
    if (failed === 0) after = head;
    return finished;
  };
}
