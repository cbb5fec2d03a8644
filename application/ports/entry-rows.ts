import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';

/** The entries' read model as commands use it: a recent state instead of a fold of the whole stream. It may be behind. */
export type EntryRows = {
  /** State of one entry; undefined when there is no row (not there, deleted, or not yet projected). */
  load(type: ContentType, id: string): Promise<EntryState | undefined>;
  /** Which of the ids are entries of the type. */
  existing(type: ContentType, ids: readonly string[]): Promise<ReadonlySet<string>>;
};
