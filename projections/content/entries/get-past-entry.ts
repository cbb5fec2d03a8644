import type { ContentType } from '../../../domain/content/content-type.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { plannedTypes } from '../../../domain/content/populate-plan.ts';
import type { EntryShape } from './entry-json.ts';
import { getSql } from './get-entry.ts';
import type { Past } from './past.ts';
import { givenRow, pastSources, rowOf } from './past-rows.ts';
import { refusePopulate } from './populate-bound.ts';

export type PastEntryQuery = { readonly type: ContentType; /** The entry as it stood then. */ readonly entry: EntryState; readonly asOf: string; readonly shape: EntryShape };

/**
 * An entry of a moment with the related entries of the same moment, as JSON text.
 * @throws `invalid_query_parameter` naming `populate` when the answer would hold too many related entries; `past_not_ready`
 */
export async function getPastEntry({ type, entry, asOf, shape }: PastEntryQuery, { past }: { readonly past: Past }): Promise<string> {
  const related = plannedTypes(shape.populate ?? []);
  return past.read(related, { time: asOf }, async (tx, sets) => {
    const sourceOf = pastSources(sets);
    // One entry needs no set of its type, unless entries of its type are related to it.
    const given = !sets.has(type.id);
    const sources = (of: ContentType): string => (given && of.id === type.id ? givenRow(type, '$3') : sourceOf(of));
    const [row] = await tx.query<{ json: string | null }>(getSql(type, { ...shape, sources }), [type.tenant, entry.id, ...(given ? [JSON.stringify(rowOf(type, entry))] : [])]);
    if (row?.json == null) throw refusePopulate();
    return row.json;
  });
}
