import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { plannedTypes } from '../../../domain/content/populate-plan.ts';
import type { EntryShape } from './entry-json.ts';
import { getSql } from './entry-reads.ts';
import type { PastReader } from './past-reader.ts';
import { parameterRow, pastSources, rowOf } from './past-rows.ts';
import { populateRefusal } from './populate-bound.ts';
import { MAX_RESPONSE_BYTES, refusingLarge } from './response-size.ts';

export type PastEntryQuery = {
  readonly type: ContentType;
  /** The state of the entry at that time. */
  readonly entry: EntryState;
  /** RFC 3339, UTC, milliseconds. */
  readonly asOf: string;
  readonly shape: EntryShape;
};

export type PastEntryDependencies = {
  readonly past: PastReader;
  /** Largest JSON text of an entry with its populated entries, in bytes. Default: 16 MiB. */
  readonly maxResponseBytes?: number | undefined;
};

/**
 * The JSON text of an entry at a point in time, with its related entries at the same point in time.
 * @throws `invalid_query_parameter` naming `populate` when the response would contain too many related entries or would
 *   be too large
 * @throws `past_not_ready` while the changed entries of that time are still being gathered
 */
export async function getPastEntry(
  { type, entry, asOf, shape }: PastEntryQuery,
  { past, maxResponseBytes: maxBytes = MAX_RESPONSE_BYTES }: PastEntryDependencies,
): Promise<string> {
  const related = plannedTypes(shape.populate ?? []);
  return past.read(related, { time: asOf }, async (tx, sets) => {
    const sourceOf = pastSources(sets);
    // The entry's own row is bound as a parameter, unless the response populates entries of its type and so has a set
    // of them.
    const bound = !sets.has(type.id);
    const sources = (of: ContentType): string => (bound && of.id === type.id ? parameterRow(type, '$3') : sourceOf(of));
    const parameters = [type.tenant, entry.id, ...(bound ? [JSON.stringify(rowOf(type, entry))] : [])];
    const [row] = await refusingLarge({ parameter: 'populate', maxBytes }, () =>
      tx.query<{ json: string | null }>(getSql(type, { ...shape, sources, maxBytes }), parameters),
    );
    if (row?.json == null) throw populateRefusal();
    return row.json;
  });
}
