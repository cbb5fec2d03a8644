import { parseNewFieldName } from '../../domain/content/content-type-field-parser.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import { isStored } from '../../domain/content/field-types.ts';
import { fieldRenameOperations, renameAmong } from '../../domain/content/rename-field.ts';
import { findConflict, toStatement } from '../../domain/content/schema-diff.ts';
import { useOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { appendChange, changeAlone } from './change-content-type.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { readNewName } from './new-name.ts';
import { otherUses, sharedDifferently } from './other-uses.ts';
import { tryOut } from './try-out.ts';

export type RenamedField = { readonly newName: string; readonly position: GlobalPosition };

/**
 * Gives a field another name: values, index, unique values and rules that compare with it go with it, and other types whose relation names it
 * as their other side follow. Events of before keep their names and read under today's (spec 2, rename).
 * @throws `schema_not_found`, `field_not_found`, `new_name_required`, `new_name_same`, `invalid_schema`, `field_exists`, `schema_table_shared`,
 *   `schema_migration_failed`, `ddl_in_progress`, `not_caught_up`
 */
export async function renameField(
  { name, field: oldName, newName }: { readonly name: string; readonly field: string; readonly newName: Json | undefined },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<RenamedField> {
  const { tenant, newId } = context;
  return changeAlone({ tenant, names: [name], tenantTypes: 'alone' }, dependencies, async (session) => {
    const stored = (await session.ofTenant(tenant)).find((type) => type.name === name);
    if (!stored) throw refusal('schema_not_found');
    const field = stored.definition.fields.find((known) => known.name === oldName);
    if (!field) throw refusal('field_not_found');
    const to = readNewName(newName, oldName, (given) => parseNewFieldName(field, given));
    const renamed = { ...field, name: to };
    if (isTaken(renamed, [...stored.definition.fields.filter((known) => known !== field), ...stored.retained])) throw refusal('field_exists');
    const others = otherUses(await session.named(name), tenant);
    const conflict = findConflict([renamed], others.flatMap(({ fields, retained }) => [...fields, ...retained]));
    if (conflict !== undefined) throw sharedDifferently(conflict);
    const renaming = { field, to };
    const definition = { ...stored.definition, fields: renameAmong(stored.definition.fields, renaming) };
    const retained = renameAmong(stored.retained, renaming);
    const operations = fieldRenameOperations({ ...renaming, before: useOf(stored), after: useOf({ definition, retained }), others, tenant });
    const statements = operations.map((operation) => toStatement(operation, name, newId()));
    await tryOut({ tenant, table: name, statements }, session);
    const event = { type: 'ContentTypeFieldRenamed', data: { type_id: stored.id, field_id: field.id, from: oldName, to, definition, retained, statements } } as const;
    return { newName: to, position: await appendChange({ typeId: stored.id, stored, event }, context, dependencies) };
  });
}

/** A name is taken as a name and as the key of a belongs_to; also while the removal of its column is queued. */
function isTaken(renamed: FieldDefinition, known: readonly FieldDefinition[]): boolean {
  const names = new Set(known.flatMap((other) => (isStored(other) ? [other.name, keyOf(other)] : [other.name])));
  return names.has(renamed.name) || (isStored(renamed) && names.has(keyOf(renamed)));
}
