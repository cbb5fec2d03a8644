import type { EventStore } from '../../application/ports/event-store.ts';
import { appendCases } from './event-store-append.ts';
import { deletionCases } from './event-store-deletion.ts';
import { readCases } from './event-store-read.ts';
import { subscriptionCases } from './event-store-subscription.ts';

/** An adapter under test, opened on a log of its own. */
export type OpenedStore = {
  readonly store: EventStore;
  close(): Promise<void>;
  /** Opens one more adapter on the same log, as another process would. The suite closes it. */
  readonly another?: (() => Promise<EventStore>) | undefined;
  /** Breaks every connection of the adapter once; it may connect again at once. */
  readonly dropConnections?: (() => Promise<void>) | undefined;
};

export type EventStoreContract = {
  readonly name: string;
  readonly open: () => Promise<OpenedStore>;
  /** False where a repeated append cannot be told from a first one; its outcome must be equal all the same. Default true. */
  readonly reportsDuplicates?: boolean;
  /** Bytes of JSON in one append that are surely too many. Default 20 MiB. */
  readonly tooManyBytes?: number;
  /** The hooks that `open` gives, known before it runs: cases without their hook are not declared. */
  readonly hooks?: { readonly another?: boolean; readonly dropConnections?: boolean; readonly appendMany?: boolean };
};

/** What the cases of the suite share. */
export type ContractContext = Required<Pick<EventStoreContract, 'reportsDuplicates' | 'tooManyBytes'>> & {
  readonly hooks: NonNullable<EventStoreContract['hooks']>;
  readonly opened: () => OpenedStore;
  readonly store: () => EventStore;
};

/**
 * The contract of the port `EventStore` (spec 5, rule 3): one behaviour a test, run against every adapter. The cases share one log;
 * each works on streams of its own and takes positions as opaque.
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
    readCases(context);
    deletionCases(context);
    subscriptionCases(context);
  });
}
