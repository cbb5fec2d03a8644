import type { Actor } from '../../domain/event.ts';

/** A comment on an entry (spec 4 A, comments). */
export type Comment = {
  readonly id: string;
  readonly entryId: string;
  /** The comment it answers; undefined also where that one is deleted. */
  readonly parent: string | undefined;
  readonly body: string;
  readonly author: Actor;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
};

/** Comments of the read model. */
export type Comments = {
  /** Comments on an entry, the newest last, and how many there are. */
  list(query: { readonly tenant: string; readonly entryId: string; readonly limit: number; readonly offset: number }): Promise<{ readonly comments: readonly Comment[]; readonly total: number }>;
  /** Whether there is such a comment on the entry. */
  exists(query: { readonly tenant: string; readonly entryId: string; readonly id: string }): Promise<boolean>;
};
