import type { MessageBus } from '../../application/ports/message-bus.ts';
import { deliveryCases } from './message-bus-delivery.ts';
import { failureCases } from './message-bus-failure.ts';
import { useBus } from './message-bus-fixtures.ts';
import { publisherCases } from './message-bus-publisher.ts';
import { stopCases } from './message-bus-stop.ts';

/**
 * The contract of the port `MessageBus` (`application/ports/message-bus.ts`). `open` opens a bus; each test uses its
 * own topics and groups.
 */
export function messageBusContract(open: () => Promise<MessageBus>): void {
  const context = useBus(open);
  deliveryCases(context);
  failureCases(context);
  publisherCases(context);
  stopCases(context);
}
