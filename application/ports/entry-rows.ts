import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { GlobalPosition } from '../../domain/event.ts';

/** An entry with a relation that references another entry. */
export type Referrer = { readonly type: ContentType; readonly entry: EntryState };

/**
 * Rows of the read model of entries for commands, which avoid folding a whole stream. The read model may lag behind the
 * log.
 */
export type EntryRows = {
  /** Position of the read model. A read that begins later shows at least the events up to it. */
  position(): Promise<GlobalPosition>;
  /** The state of one entry; undefined when it does not exist, is deleted or is not yet projected. */
  load(type: ContentType, id: string): Promise<EntryState | undefined>;
  /** Returns those of the ids that belong to entries of the type. */
  existing(type: ContentType, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Other entries of the tenant, of any type, whose relations reference the entry; ordered by type and id, 1,000 per
   * batch. `required`: only entries in which a required relation would have no value left.
   */
  referrers(
    type: ContentType,
    id: string,
    options?: { readonly required?: boolean },
  ): AsyncIterable<readonly Referrer[]>;
};
