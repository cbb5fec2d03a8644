import { parseNewFieldName } from '../../domain/content/content-type-field-parser.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { isStored } from '../../domain/content/field-types.ts';
import { fieldRenameOperations, renameInFields } from '../../domain/content/rename-field.ts';
import { tableUseOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { appendTypeChange } from './append-type-change.ts';
import { changeExistingType } from './change-existing-type.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';
import { readNewName } from './read-new-name.ts';
import { otherTableUses, requireShareable } from './shared-table.ts';
import { toStatements } from './to-statement.ts';
import { tryStatements } from './try-statements.ts';

export type RenamedField = { readonly newName: string; readonly position: GlobalPosition };

export type RenameFieldInput = { readonly name: string; readonly field: string; readonly newName: Json | undefined };

/**
 * Renames a field of a content type. Its values, index, unique values and the rules that compare with it keep working;
 * relations of other types that name it as their other side are changed. Earlier events keep the old name and are read
 * under the new one.
 * @throws `schema_not_found`, `field_not_found`, `new_name_required`, `new_name_same`, `invalid_schema`,
 *   `field_exists`, `schema_table_shared`, `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export function renameField(
  { name, field: oldName, newName }: RenameFieldInput,
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<RenamedField> {
  const { tenant, newId } = context;
  return changeExistingType(
    {
      name,
      tenantTypes: 'alone',
      async change(stored, session) {
        const field = stored.definition.fields.find((candidate) => candidate.name === oldName);
        if (!field) throw refusal('field_not_found');
        const to = readNewName({
          input: newName,
          current: oldName,
          parse: (input) => parseNewFieldName(field, input),
        });
        const renamed = { ...field, name: to };
        if (isTaken(renamed, [...stored.definition.fields.filter((other) => other !== field), ...stored.retained]))
          throw refusal('field_exists');
        const others = otherTableUses(await session.named(name), tenant);
        requireShareable([renamed], others);
        const renaming = { field, to };
        const definition = { ...stored.definition, fields: renameInFields(stored.definition.fields, renaming) };
        const retained = renameInFields(stored.retained, renaming);
        const operations = fieldRenameOperations({
          ...renaming,
          before: tableUseOf(stored),
          after: tableUseOf({ definition, retained }),
          others,
          tenant,
        });
        const statements = toStatements({ operations, table: name, newId }, dependencies);
        await tryStatements({ tenant, table: name, statements }, session);
        const event = { type_id: stored.id, field_id: field.id, from: oldName, to, definition, retained, statements };
        const position = await appendTypeChange(
          { typeId: stored.id, stored, command: { kind: 'rename_field', event } },
          context,
          dependencies,
        );
        return { newName: to, position };
      },
    },
    context,
    dependencies,
  );
}

/** The key of a belongs_to is taken too, and so are the names and keys of retained fields. */
function isTaken(renamed: FieldDefinition, known: readonly FieldDefinition[]): boolean {
  const names = new Set(known.flatMap((other) => (isStored(other) ? [other.name, keyOf(other)] : [other.name])));
  return names.has(renamed.name) || (isStored(renamed) && names.has(keyOf(renamed)));
}
