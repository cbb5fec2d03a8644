import { describeMessageBus } from '../../contract/message-bus.ts';
import { requireService } from '../../support/adapters.ts';
import { openTestKafka } from '../../support/kafka.ts';

describe('message bus on Kafka', () => {
  const kafka = requireService('kafka');
  describeMessageBus(() => openTestKafka({ brokers: kafka.address() }));
});
