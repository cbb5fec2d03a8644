import { appendCases } from './event-store-append.ts';
import type { ContractContext, EventStoreContract, OpenedStore } from './event-store-context.ts';
import { deletionCases } from './event-store-deletion.ts';
import { readCases } from './event-store-read.ts';
import { repeatedAppendCases } from './event-store-repeated-append.ts';
import { subscriptionCases } from './event-store-subscription.ts';
import { valueCases } from './event-store-values.ts';

/**
 * The contract of the port `EventStore`: one behaviour per test, run against every adapter. The cases share one log;
 * each uses its own streams and treats positions as opaque.
 */
export function eventStoreContract(options: EventStoreContract): void {
  describe(`event store contract: ${options.name}`, function () {
    this.timeout(30_000);
    let opened: OpenedStore | undefined;
    before(async () => {
      opened = await options.open();
    });
    after(async () => {
      await opened?.close();
    });
    const context: ContractContext = {
      reportsDuplicates: options.reportsDuplicates ?? true,
      tooManyBytes: options.tooManyBytes ?? 20 * 1024 * 1024,
      hooks: options.hooks ?? {},
      opened() {
        if (!opened) throw new Error('the store is open inside tests only');
        return opened;
      },
      store: () => context.opened().store,
    };
    appendCases(context);
    repeatedAppendCases(context);
    valueCases(context);
    readCases(context);
    deletionCases(context);
    subscriptionCases(context);
  });
}
