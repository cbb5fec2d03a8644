import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { ProcessLogger } from '../logging/create-logger.ts';
import type { Faults } from './faults.ts';

/** Logs errors after which the process ends, at once. */
export function logFaults(faults: Faults, logger: ProcessLogger): void {
  faults.add((error) => {
    logger.error('nothing handles this error: the process ends and must be restarted', {
      reason: reasonOf(error),
      error,
    });
    logger.flush();
  });
}
