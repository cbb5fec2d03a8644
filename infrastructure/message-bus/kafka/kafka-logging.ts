import type { LogEntry, logLevel } from 'kafkajs';
import type { Logger } from '../../../application/ports/logger.ts';

/** The client reports each retry of a transaction that begins while the previous one ends. These are usual. */
const USUAL = 'another concurrent operation on the same transaction was ongoing';

/**
 * Forwards the client's log to the service's logger, one level lower: the client logs every retried connection as an
 * error and every join of a group as information. The adapter reports important events, such as the end of a consumer.
 */
export function kafkaLogCreator(logger: Logger, warn: logLevel): () => (entry: LogEntry) => void {
  const log = logger.child({ component: 'kafka' });
  return () =>
    ({ level, namespace, log: { message, timestamp: _timestamp, stack: _stack, logger: _logger, ...fields } }) => {
      const isUsual = [message, fields['error']].some((text) => String(text).includes(USUAL));
      if (level <= warn && !isUsual) log.warn(message, { ...fields, namespace });
      else log.debug(message, { ...fields, namespace });
    };
}
