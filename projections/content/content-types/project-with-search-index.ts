import type { StoredContentType } from '../../../domain/content/content-type.ts';
import type { FieldDefinition } from '../../../domain/content/definition.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { columnTypeOf, isStored } from '../../../domain/content/field-types.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';
import { indexEntriesOfType, unindexMissingEntries } from '../entries/search-table.ts';
import { searchedKeys } from '../entries/search-vector.ts';
import { readContentTypes } from './rows.ts';

/**
 * Writes a content type event with `project`, then updates the full-text search index: removes the words of fields that
 * are no longer searched and adds those of fields that now are.
 */
export async function projectWithSearchIndex(
  tx: Transaction,
  target: Target,
  { event, project }: { readonly event: RecordedEvent; readonly project: () => Promise<void> },
): Promise<void> {
  const typeId = event.data['type_id'];
  const find = async (): Promise<StoredContentType | undefined> =>
    typeof typeId === 'string' ? (await readContentTypes(tx, target.schema, { typeIds: [typeId] }))[0] : undefined;
  const before = await find();
  await project();
  const after = await find();
  if (!after || after.deleted) return;
  if (event.type === 'ContentTypeStatementsApplied') await unindexMissingEntries(tx, target, after);
  const stale = staleRows(before, after);
  if (stale !== 'none')
    await indexEntriesOfType(tx, target, { type: after, condition: stale === 'all' ? undefined : stale });
}

/** The rows to index again: `all`, `none`, or an SQL condition over the alias `t`. */
function staleRows(before: StoredContentType | undefined, after: StoredContentType): string {
  if (!before || before.deleted) return 'all';
  const [oldFields, newFields] = [searchedFields(before), searchedFields(after)];
  const changed = [
    ...oldFields.filter(({ id }) => !newFields.some((field) => field.id === id)),
    ...newFields.filter(({ id }) => !oldFields.some((field) => field.id === id)),
  ].map(({ id }) => id);
  if (changed.length === 0) return 'none';
  const remaining = [...after.definition.fields, ...after.retained].filter(
    (field) => changed.includes(field.id) && isStored(field),
  );
  // A text that did not convert to the new type is null now, but its words are still in the index.
  if (remaining.some((field) => columnTypeOf(field) !== 'text')) return 'all';
  // A removed field that has no column left had no values.
  return remaining.length === 0
    ? 'none'
    : remaining.map((field) => `t.${quoteIdentifier(keyOf(field))} is not null`).join(' or ');
}

function searchedFields({ definition }: StoredContentType): readonly FieldDefinition[] {
  const keys = searchedKeys(definition);
  return definition.fields.filter((field) => isStored(field) && keys.includes(keyOf(field)));
}
