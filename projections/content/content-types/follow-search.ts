import type { StoredContentType } from '../../../domain/content/content-type.ts';
import type { FieldDefinition } from '../../../domain/content/definition.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { isStored, sqlTypeOf } from '../../../domain/content/field-types.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';
import { dropSearchWithoutRow, keepSearchOfType } from '../entries/search-table.ts';
import { searchedKeys } from '../entries/search-vector.ts';
import { readContentTypes } from './rows.ts';

/** Applies a content type's event by `apply`, and lets full-text search follow it: words of fields that are no longer searched go, those of fields that now are come. */
export async function followSearch(tx: Transaction, target: Target, event: RecordedEvent, apply: () => Promise<void>): Promise<void> {
  const typeId = event.data['type_id'];
  const find = async (): Promise<StoredContentType | undefined> =>
    typeof typeId === 'string' ? (await readContentTypes(tx, target.schema, { typeIds: [typeId] }))[0] : undefined;
  const before = await find();
  await apply();
  const after = await find();
  if (!after || after.deleted) return;
  if (event.type === 'ContentTypeStatementsApplied') await dropSearchWithoutRow(tx, target, after);
  const stale = staleRows(before, after);
  if (stale !== 'none') await keepSearchOfType(tx, target, after, stale === 'all' ? undefined : stale);
}

/** Which rows to take apart anew: `all`, `none`, or those of which the SQL holds. */
function staleRows(before: StoredContentType | undefined, after: StoredContentType): string {
  if (!before || before.deleted) return 'all';
  const [then, now] = [searched(before), searched(after)];
  const changed = [...then.filter(({ id }) => !now.some((field) => field.id === id)), ...now.filter(({ id }) => !then.some((field) => field.id === id))].map(({ id }) => id);
  if (changed.length === 0) return 'none';
  const kept = [...after.definition.fields, ...after.retained].filter((field) => changed.includes(field.id) && isStored(field));
  // A text that did not convert is null now, and its words are still there.
  if (kept.some((field) => sqlTypeOf(field) !== 'text')) return 'all';
  // A field without a column any more held no value.
  return kept.length === 0 ? 'none' : kept.map((field) => `t.${quoteIdentifier(keyOf(field))} is not null`).join(' or ');
}

function searched({ definition }: StoredContentType): readonly FieldDefinition[] {
  const keys = searchedKeys(definition);
  return definition.fields.filter((field) => isStored(field) && keys.includes(keyOf(field)));
}
