import type { Actor } from '../../domain/event.ts';

/** A comment on an entry. */
export type Comment = {
  readonly id: string;
  readonly entryId: string;
  /** The parent comment; undefined also when the parent is deleted. */
  readonly parent: string | undefined;
  readonly body: string;
  readonly author: Actor;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
};

/** Queries of the comments in the read model. */
export type Comments = {
  /** A page of the comments on an entry, oldest first, and the total number. */
  list(query: {
    readonly tenant: string;
    readonly entryId: string;
    readonly limit: number;
    readonly offset: number;
  }): Promise<{ readonly comments: readonly Comment[]; readonly total: number }>;
  /** Whether the entry has this comment. */
  exists(query: { readonly tenant: string; readonly entryId: string; readonly id: string }): Promise<boolean>;
};
