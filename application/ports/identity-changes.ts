import type { GlobalPosition } from '../../domain/event.ts';

/** Notifies caches of changes of the identity read model. Events of other modules cause no notification. */
export type IdentityChanges = {
  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void;
  /**
   * Announces an event that this process appended. Listeners are called as soon as the read model has applied it,
   * before the write is answered.
   */
  expect(position: GlobalPosition): void;
};
