import type { EventStore } from '../../application/ports/event-store.ts';

/** An adapter under test, opened on its own log. */
export type OpenedStore = {
  readonly store: EventStore;
  close(): Promise<void>;
  /** Opens another adapter on the same log, as another process would. The suite closes it. */
  readonly another?: (() => Promise<EventStore>) | undefined;
  /** Breaks every connection of the adapter once; it may reconnect immediately. */
  readonly dropConnections?: (() => Promise<void>) | undefined;
};

export type EventStoreContract = {
  readonly name: string;
  readonly open: () => Promise<OpenedStore>;
  /**
   * False when the adapter cannot distinguish a repeated append from the first one; the results must be equal in any
   * case. Default true.
   */
  readonly reportsDuplicates?: boolean;
  /** A number of bytes of JSON that is too large for one append. Default 20 MiB. */
  readonly tooManyBytes?: number;
  /**
   * The hooks that `open` provides. They are known before it runs, because cases without their hook are not declared.
   */
  readonly hooks?: { readonly another?: boolean; readonly dropConnections?: boolean; readonly appendMany?: boolean };
};

/** What the cases of the suite share. */
export type ContractContext = Required<Pick<EventStoreContract, 'reportsDuplicates' | 'tooManyBytes'>> & {
  readonly hooks: NonNullable<EventStoreContract['hooks']>;
  readonly opened: () => OpenedStore;
  readonly store: () => EventStore;
};
