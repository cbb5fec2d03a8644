import { randomBytes } from 'node:crypto';
import type { Logger } from '../../application/ports/logger.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';
import { openKafkaBus } from '../../infrastructure/message-bus/kafka/kafka-bus.ts';
import { recordingLogger } from './recording-logger.ts';

export type TestKafkaOptions = { readonly brokers: string; readonly logger?: Logger; readonly onFatal?: (error: Error) => void; readonly sessionTimeoutMs?: number };

/** A bus on the tests' broker. */
export function openTestKafka({ brokers, logger = recordingLogger(), onFatal = () => undefined, sessionTimeoutMs = 10_000 }: TestKafkaOptions): Promise<MessageBus> {
  return openKafkaBus({ brokers: brokers.split(','), clientId: 'palimpsest-test', logger, onFatal, sessionTimeoutMs });
}

/** A name that no other test and no earlier run uses, for topics and groups on a shared broker. */
export function uniqueName(what: string): string {
  return `test.${what}.${randomBytes(5).toString('hex')}`;
}
