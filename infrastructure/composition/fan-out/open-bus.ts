import type { MessageBus } from '../../../application/ports/message-bus.ts';
import type { Platform } from '../platform/platform.ts';

/** The Kafka bus of `KAFKA_BROKERS`; undefined without brokers. The client is loaded only when it is needed. */
export async function openBus({ settings, logger, metrics, onFatal }: Platform): Promise<MessageBus | undefined> {
  const { kafkaBrokers: brokers } = settings;
  if (brokers === undefined) return undefined;
  const { openKafkaBus } = await import('../../message-bus/kafka/kafka-bus.ts');
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = settings;
  return openKafkaBus({
    brokers,
    clientId: settings.kafkaClientId,
    ssl: settings.kafkaSsl,
    sasl:
      mechanism !== undefined && username !== undefined && password !== undefined
        ? { mechanism, username, password }
        : undefined,
    logger,
    metrics,
    onFatal,
  });
}
