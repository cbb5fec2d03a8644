import type { ContentType } from './content-type.ts';
import type { FieldDefinition } from './definition.ts';

/** Maximum nesting depth of related entries. */
export const MAX_DEPTH = 3;

/** Maximum number of relations that one response follows, over all depths. */
export const MAX_RELATIONS = 100;

/** Maximum number of entries of a has_many inside an entry. The relation's own route returns all of them in pages. */
export const MAX_MANY = 100;

/** Maximum number of related entries of has_many and many_to_many relations in one response. */
export const MAX_POPULATED = 10_000;

/** A relation whose entries are included in the entry. */
export type PopulatedRelation = {
  readonly field: FieldDefinition;
  /** Content type of the related entries. */
  readonly type: ContentType;
  /** Names of their fields that are hidden from the caller. */
  readonly hidden: ReadonlySet<string>;
  /** Relations that are included in them. */
  readonly relations: PopulatePlan;
};

/**
 * The relations that a response includes as whole entries. The plan respects the caller's access rules: it contains
 * nothing that the caller may not read.
 */
export type PopulatePlan = readonly PopulatedRelation[];

/** A cache key of everything in a plan that the SQL text depends on. */
export function populateKey(plan: PopulatePlan): string {
  return JSON.stringify(
    plan.map(({ field, type, hidden, relations }) => [
      field.id,
      type.id,
      type.revision,
      [...hidden],
      populateKey(relations),
    ]),
  );
}

/** All content types that a plan reads entries of. */
export function plannedTypes(plan: PopulatePlan): readonly ContentType[] {
  const types = new Map(
    plan.flatMap(({ type, relations }) => [type, ...plannedTypes(relations)]).map((type) => [type.id, type]),
  );
  return [...types.values()];
}
