import type { LogEntry, logLevel } from 'kafkajs';
import type { Logger } from '../../../application/ports/logger.ts';

/**
 * Sends the client's log through ours. It calls every retried connection an error and every joining of a group news, so all of it is
 * one step quieter here; what matters (a consumer that ended) the adapter reports itself.
 */
export function kafkaLogCreator(logger: Logger, warn: logLevel): () => (entry: LogEntry) => void {
  const log = logger.child({ component: 'kafka' });
  return () =>
    ({ level, namespace, log: { message, timestamp: _timestamp, stack: _stack, logger: _logger, ...fields } }) => {
      if (level <= warn) log.warn(message, { ...fields, namespace });
      else log.debug(message, { ...fields, namespace });
    };
}
