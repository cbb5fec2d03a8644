import { withFieldNames } from '../../../domain/content/content-type.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { fieldRenameOperations, followOtherSide } from '../../../domain/content/rename-field.ts';
import { useOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { followTypes } from './follow-types.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { otherUses, placed, runOperations } from './run-operations.ts';
import { refreshView, renameViewColumn } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/** A field goes by another name: its column follows, and other types that name it as their other side. */
export async function projectFieldRename(tx: Transaction, target: Target, event: EventOf<'ContentTypeFieldRenamed'>): Promise<void> {
  const { type_id: typeId, field_id: fieldId, from, to, definition, retained, statements } = event.data;
  const { schema } = target;
  const { tenant } = event.metadata;
  const { name } = definition;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  const field = before?.definition.fields.find(({ id }) => id === fieldId);
  if (!before || !field) throw new Error(`field ${fieldId} of content type ${typeId} is renamed and not there`);
  const others = await otherUses(tx, target, { name, typeId });
  const operations = fieldRenameOperations({ field, to, before: useOf(before), after: useOf({ definition, retained }), others, tenant });
  await runOperations(tx, target, placed(name, operations));
  if (schema === LIVE && operations.some(({ op }) => op === 'rename_column')) await renameViewColumn(tx, name, { from: keyOf(field), to: keyOf({ ...field, name: to }) });

  const fieldNames = withFieldNames(before.fieldNames, event.revision, definition.fields);
  await writeType(tx, target, event, { typeId, definition, retained, fieldNames });
  await followTypes(tx, target, { tenant, except: typeId }, (fields) => followOtherSide(fields, { schema: name, from, to }));
  await addStatements(tx, target, event, typeId, statements);
  if (schema === LIVE) await refreshView(tx, name);
}
