import type { FieldDefinition } from './definition.ts';
import { InvalidDefinition } from './invalid-definition.ts';

/** A content type that a relation can name. */
export type RelationTarget = { readonly name: string; readonly fields: readonly FieldDefinition[] };

/**
 * Checks that relations name existing content types, and finds the belongs_to on the other side of each has_one and
 * has_many.
 * @throws InvalidDefinition
 */
export function checkRelations(
  name: string,
  fields: readonly FieldDefinition[],
  types: readonly RelationTarget[],
): readonly FieldDefinition[] {
  const allTypes = [...types.filter((type) => type.name !== name), { name, fields }];
  return fields.map((field) => {
    if (field.field_type !== 'relation') return field;
    const target = allTypes.find((type) => type.name === field.relation_to);
    if (!target)
      throw new InvalidDefinition(
        `field "${field.name}": relation_to names a content type that does not exist: "${(field.relation_to ?? '').slice(0, 80)}"`,
      );
    if (field.relation_type !== 'has_one' && field.relation_type !== 'has_many') return field;
    return { ...field, relation_field: otherSide(name, field, target).name };
  });
}

function otherSide(name: string, field: FieldDefinition, target: RelationTarget): FieldDefinition {
  const candidates = target.fields.filter((other) => isBelongsTo(other) && other.relation_to === name);
  if (field.relation_field !== undefined) {
    const chosen = candidates.find((other) => other.name === field.relation_field);
    if (!chosen)
      throw new InvalidDefinition(
        `field "${field.name}": relation_field names no belongs_to of "${target.name}" to "${name}"`,
      );
    return chosen;
  }
  const [only, ...more] = candidates;
  if (!only) throw new InvalidDefinition(`field "${field.name}": "${target.name}" has no belongs_to to "${name}"`);
  if (more.length > 0)
    throw new InvalidDefinition(
      `field "${field.name}": "${target.name}" has more than one belongs_to to "${name}"; name one in relation_field`,
    );
  return only;
}

/** Relations of other types to the type `name`, as `<schema>.<field>`. */
export function referencesTo(name: string, types: readonly RelationTarget[]): readonly string[] {
  return types
    .filter((type) => type.name !== name)
    .flatMap((type) =>
      type.fields.filter((field) => field.relation_to === name).map((field) => `${type.name}.${field.name}`),
    );
}

function isBelongsTo(field: FieldDefinition): boolean {
  return field.field_type === 'relation' && (field.relation_type ?? 'belongs_to') === 'belongs_to';
}
