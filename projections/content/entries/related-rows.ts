import type { ContentType } from '../../../domain/content/content-type.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { isManyToMany, isStored } from '../../../domain/content/field-types.ts';
import type { PopulatedRelation } from '../../../domain/content/populate-plan.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';

/** The tenant's place among the parameters of every statement over entries. */
export const TENANT = '$1';

/** A relation of the row `parent`, followed to the rows `alias` of `source`. Aliases are plain letters and digits. */
export type Followed = {
  readonly relation: Pick<PopulatedRelation, 'field' | 'type'>;
  readonly parent: string;
  readonly alias: string;
  /** What the related entries are selected from: their table, or a query of the same columns in brackets. */
  readonly source: string;
  /** Whether the parent's type has drafts, so that the parent may be one. */
  readonly drafts: boolean;
};

/**
 * SQL from FROM on of the related entries a reader may see, in their order: of a many_to_many the author's, of a has_many that of creation.
 * Deleted ones never; where the type has drafts, a published entry shows published ones only and any other entry, being a preview, all.
 */
export function relatedRows({ relation, parent, alias, source, drafts }: Followed): string {
  const { field, type } = relation;
  const seen = visible(type, alias, drafts ? parent : undefined);
  if (isManyToMany(field)) {
    const links = `unnest(${parent}.${quoteIdentifier(field.name)}) with ordinality ${alias}l(id, place)`;
    return `from ${links} join ${source} ${alias} on ${alias}."id" = ${alias}l.id where ${seen} order by ${alias}l.place`;
  }
  if (isStored(field)) return `from ${source} ${alias} where ${alias}."id" = ${parent}.${quoteIdentifier(keyOf(field))} and ${seen}`;
  return `from ${source} ${alias} where ${alias}.${quoteIdentifier(`${field.relation_field ?? ''}_id`)} = ${parent}."id" and ${seen} order by ${alias}."id"`;
}

/** Whether the relation gives a list, and not one entry or null. */
export function isList({ field }: Pick<PopulatedRelation, 'field'>): boolean {
  return isManyToMany(field) || field.relation_type === 'has_many';
}

function visible(type: ContentType, alias: string, parent: string | undefined): string {
  const there = `${alias}."tenant_id" = ${TENANT} and ${alias}."_deleted_at" is null`;
  if (type.definition.with_draft_publish !== true) return there;
  const published = `${alias}."_status" = 'published'`;
  return `${there} and ${parent === undefined ? published : `(${published} or ${parent}."_status" <> 'published')`}`;
}
