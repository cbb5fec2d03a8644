import type { ContentType } from './content-type.ts';
import type { FieldDefinition } from './definition.ts';

/** Deepest nesting of related entries (spec 4 A). */
export const MAX_DEPTH = 3;

/** Most relations that one answer follows, over all depths. */
export const MAX_RELATIONS = 100;

/** Entries of a has_many shown inside an entry; the relation's own route pages through all of them. */
export const MAX_MANY = 100;

/** Most related entries of lists (has_many, many_to_many) inside one answer. */
export const MAX_POPULATED = 10_000;

/** One relation whose entries stand inside the entry. */
export type PopulatedRelation = {
  readonly field: FieldDefinition;
  /** Type of the related entries. */
  readonly type: ContentType;
  /** Fields of theirs that the caller does not see. */
  readonly hidden: ReadonlySet<string>;
  /** Relations shown inside them. */
  readonly relations: PopulatePlan;
};

/**
 * Which relations an answer shows as whole entries; made from the catalogue and the caller's access rules, so that it holds nothing the caller may
 * not read.
 */
export type PopulatePlan = readonly PopulatedRelation[];

/** Everything a statement's text takes from a plan, as a key of caches. */
export function populateKey(plan: PopulatePlan): string {
  return JSON.stringify(plan.map(({ field, type, hidden, relations }) => [field.id, type.id, type.revision, [...hidden], populateKey(relations)]));
}

/** Every type that a plan shows entries of. */
export function plannedTypes(plan: PopulatePlan): readonly ContentType[] {
  const types = new Map(plan.flatMap(({ type, relations }) => [type, ...plannedTypes(relations)]).map((type) => [type.id, type]));
  return [...types.values()];
}
