import type { LogEntry } from 'kafkajs';
import type { Logger } from '../../../application/ports/logger.ts';

/** kafkajs' levels: 1 error, 2 warn, 4 info, 5 debug. Its enum is not loaded for the sake of a number. */
const WARN: number = 2;

/**
 * Sends the client's log through ours. It calls every retried connection an error and every joining of a group news, so all of it is
 * one step quieter here; what matters (a consumer that ended) the adapter reports itself.
 */
export function kafkaLogCreator(logger: Logger): () => (entry: LogEntry) => void {
  const log = logger.child({ component: 'kafka' });
  return () =>
    ({ level, namespace, log: { message, timestamp: _timestamp, stack: _stack, logger: _logger, ...fields } }) => {
      if (Number(level) <= WARN) log.warn(message, { ...fields, namespace });
      else log.debug(message, { ...fields, namespace });
    };
}
