import type { GlobalPosition } from '../../domain/event.ts';

/** Tells caches that the identity read model holds something new. Moves over other rooms' events are no changes. */
export type IdentityChanges = {
  /** @returns how to stop it */
  onChange(listener: () => void): () => void;
  /** An event of ours was appended here: listeners hear of it in the very move that takes it in, before the write is answered. */
  expect(position: GlobalPosition): void;
};
