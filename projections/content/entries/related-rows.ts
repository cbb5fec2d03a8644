import type { ContentType } from '../../../domain/content/content-type.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { isManyToMany, isStored } from '../../../domain/content/field-types.ts';
import { MAX_MANY, type PopulatedRelation } from '../../../domain/content/populate-plan.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';

/** Placeholder of the tenant in every statement over entries. */
export const TENANT = '$1';

/** A relation of the row `parent` to the rows `alias` of `source`. Aliases consist of letters and digits. */
export type RelationStep = {
  readonly relation: Pick<PopulatedRelation, 'field' | 'type'>;
  readonly parent: string;
  readonly alias: string;
  /** SQL of the rows to select the related entries from: their table, or a query of the same columns in parentheses. */
  readonly source: string;
  /** Whether the parent's type has drafts, so that the parent may be a draft. */
  readonly drafts: boolean;
};

/**
 * SQL, from FROM on, of the related entries that a reader may see, in their order: for a many_to_many the order of the
 * ids in the field, for a has_many the order of creation. Deleted entries are left out. If the related type has drafts,
 * a published parent shows published entries only; a parent that is not published is a preview and shows all.
 */
export function relatedRows({ relation, parent, alias, source, drafts }: RelationStep): string {
  const { field, type } = relation;
  const isVisible = visible(type, alias, drafts ? parent : undefined);
  if (isManyToMany(field)) {
    const links = `unnest(${parent}.${quoteIdentifier(field.name)}) with ordinality ${alias}l(id, place)`;
    return `from ${links} join ${source} ${alias} on ${alias}."id" = ${alias}l.id
      where ${isVisible} order by ${alias}l.place`;
  }
  if (isStored(field))
    return `from ${source} ${alias} where ${alias}."id" = ${parent}.${quoteIdentifier(keyOf(field))} and ${isVisible}`;
  return `from ${source} ${alias} where ${alias}.${quoteIdentifier(`${field.relation_field ?? ''}_id`)} = ${parent}."id"
    and ${isVisible} order by ${alias}."id"`;
}

/** Whether the relation refers to a list of entries, not to one entry or none. */
export function isList({ field }: Pick<PopulatedRelation, 'field'>): boolean {
  return isManyToMany(field) || field.relation_type === 'has_many';
}

/** LIMIT of the related rows that are shown: the first 100 of a has_many, one of a has_one; no limit otherwise. */
export function rowLimit({ field: { relation_type } }: Pick<PopulatedRelation, 'field'>): string {
  return relation_type === 'has_many' ? ` limit ${MAX_MANY}` : relation_type === 'has_one' ? ' limit 1' : '';
}

/** SQL: a reader may see the related row; `parent` is undefined when the parent counts as published. */
function visible(type: ContentType, alias: string, parent: string | undefined): string {
  const exists = `${alias}."tenant_id" = ${TENANT} and ${alias}."_deleted_at" is null`;
  if (type.definition.with_draft_publish !== true) return exists;
  const published = `${alias}."_status" = 'published'`;
  return `${exists} and ${parent === undefined ? published : `(${published} or ${parent}."_status" <> 'published')`}`;
}
