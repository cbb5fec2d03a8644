import { keyOf } from '../../../domain/content/entry-fields.ts';
import { fieldNamesAfter } from '../../../domain/content/field-history.ts';
import { fieldRenameOperations, renameOtherSide } from '../../../domain/content/rename-field.ts';
import { tableUseOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { rewriteOtherTypes } from './rewrite-other-types.ts';
import { readContentTypes } from './rows.ts';
import { otherUses, placedOperations, runOperations } from './run-operations.ts';
import { refreshView, renameViewColumn } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/**
 * Projects the rename of a field: renames its column and updates the types that name it as the other side of a
 * relation.
 */
export async function projectFieldRename(
  tx: Transaction,
  target: Target,
  event: EventOf<'ContentTypeFieldRenamed'>,
): Promise<void> {
  const { type_id: typeId, field_id: fieldId, from, to, definition, retained, statements } = event.data;
  const { schema } = target;
  const { tenant } = event.metadata;
  const { name } = definition;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  const field = before?.definition.fields.find(({ id }) => id === fieldId);
  if (!before || !field) throw new Error(`renamed field ${fieldId} of content type ${typeId} does not exist`);
  const others = await otherUses(tx, target, { name, typeId });
  const operations = fieldRenameOperations({
    field,
    to,
    before: tableUseOf(before),
    after: tableUseOf({ definition, retained }),
    others,
    tenant,
  });
  await runOperations(tx, target, placedOperations(name, operations));
  if (operations.some(({ op }) => op === 'rename_column'))
    await renameViewColumn(tx, target, { name, from: keyOf(field), to: keyOf({ ...field, name: to }) });

  const fieldNames = fieldNamesAfter(before.fieldNames, event.revision, definition.fields);
  await writeType(tx, target, { event, typeId, definition, retained, fieldNames });
  await rewriteOtherTypes(tx, target, {
    tenant,
    except: typeId,
    rewrite: (fields) => renameOtherSide(fields, { schema: name, from, to }),
  });
  await addStatements(tx, target, { event, typeId, statements });
  await refreshView(tx, target, { name });
}
