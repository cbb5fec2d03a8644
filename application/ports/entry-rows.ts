import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';

/** An entry with a relation that names another one. */
export type Referrer = { readonly type: ContentType; readonly entry: EntryState };

/** The entries' read model as commands use it: a recent state instead of a fold of the whole stream. It may be behind. */
export type EntryRows = {
  /** State of one entry; undefined when there is no row (not there, deleted, or not yet projected). */
  load(type: ContentType, id: string): Promise<EntryState | undefined>;
  /** Which of the ids are entries of the type. */
  existing(type: ContentType, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Other entries of any type of the tenant whose relations name the entry, by type and id, 1000 at a time; `required`: only those that a required relation
   * would be left without a value.
   */
  referrers(type: ContentType, id: string, options?: { readonly required?: boolean }): AsyncIterable<readonly Referrer[]>;
};
