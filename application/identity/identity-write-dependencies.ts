import type { EventStore } from '../ports/event-store.ts';
import type { IdentityChanges } from '../ports/identity-changes.ts';

/** What every command on an identity stream needs. */
export type IdentityWriteDependencies = {
  readonly eventStore: EventStore;
  readonly changes: Pick<IdentityChanges, 'expect'>;
};
