import type { FieldDefinition, ValidationRule } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { isStored } from './field-types.ts';
import { type TableUse, columnOf } from './schema-diff.ts';
import type { SchemaOperation } from './schema-operation.ts';
import { reshape, tableShape } from './table-shape.ts';

/** A field with its old name, and its new name. */
export type FieldRenaming = { readonly field: FieldDefinition; readonly to: string };

/** The fields of the type after the renaming. Validation rules that compare with the field are changed too. */
export function renameInFields(
  fields: readonly FieldDefinition[],
  { field, to }: FieldRenaming,
): readonly FieldDefinition[] {
  const renamed = { ...field, name: to };
  const follow = (rule: ValidationRule): ValidationRule => {
    const { field: other } = rule.params;
    if (rule.rule !== 'compare' || (other !== field.name && other !== keyOf(field))) return rule;
    return { ...rule, params: { ...rule.params, field: other === field.name ? to : keyOf(renamed) } };
  };
  return fields.map((candidate) => {
    const next = candidate.id === field.id ? { ...candidate, name: to } : candidate;
    return next.validation?.some(({ rule }) => rule === 'compare') === true
      ? { ...next, validation: next.validation.map(follow) }
      : next;
  });
}

/**
 * Changes the relations of another type whose other side is the renamed field.
 * @returns the same list when there are none
 */
export function renameOtherSide(
  fields: readonly FieldDefinition[],
  { schema, from, to }: { readonly schema: string; readonly from: string; readonly to: string },
): readonly FieldDefinition[] {
  const follows = (field: FieldDefinition): boolean => field.relation_to === schema && field.relation_field === from;
  return fields.some(follows)
    ? fields.map((field) => (follows(field) ? { ...field, relation_field: to } : field))
    : fields;
}

/**
 * Operations that move a field's values to the column of its new name. If another tenant uses one of the two columns,
 * only the tenant's own values are moved.
 */
export function fieldRenameOperations({
  field,
  to,
  before,
  after,
  others,
  tenant,
}: FieldRenaming & {
  readonly before: TableUse;
  readonly after: TableUse;
  readonly others: readonly TableUse[];
  readonly tenant: string;
}): readonly SchemaOperation[] {
  if (!isStored(field)) return [];
  const [from, column] = [columnOf(field), columnOf({ ...field, name: to })];
  const foreign = new Set(
    others
      .flatMap(({ fields, retained }) => [...fields, ...retained])
      .filter(isStored)
      .map(keyOf),
  );
  if (!foreign.has(from.name) && !foreign.has(column.name)) return [{ op: 'rename_column', from: from.name, column }];
  const [old, fresh] = [tableShape([before, ...others]), tableShape([after, ...others])];
  const both = tableShape([before, after, ...others]);
  return [...reshape(old, both), { op: 'move_values', from, to: column, tenant }, ...reshape(both, fresh)];
}
