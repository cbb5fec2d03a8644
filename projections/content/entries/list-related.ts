import type { ContentType } from '../../../domain/content/content-type.ts';
import type { PopulatedRelation } from '../../../domain/content/populate-plan.ts';
import { populateKey } from '../../../domain/content/populate-plan.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { entryJson, shapeColumns, sourceOf, tableOf } from './entry-json.ts';
import { relatedRows, TENANT } from './related-rows.ts';
import type { StatementCache } from './statements.ts';

/** A part of an entry's related entries: a JSON array as text, how many there are, and the entry's version. */
export type RelatedPage = { readonly json: string; readonly total: number; readonly version: number };

export type RelatedQuery = { readonly type: ContentType; readonly id: string; readonly relation: PopulatedRelation; readonly limit: number; readonly offset: number };

/** Entries that one relation of an entry leads to, in their order, by one statement; undefined where there is no such entry. */
export function createRelatedList({ database, statements }: { readonly database: Queryable; readonly statements: StatementCache }) {
  return async function listRelated({ type, id, relation, limit, offset }: RelatedQuery): Promise<RelatedPage | undefined> {
    const { text, name } = statements.get(`related ${type.id} ${type.revision} ${populateKey([relation])}`, () => relatedSql(type, relation));
    const [page] = await database.query<RelatedPage>(text, [type.tenant, id, limit, offset], name);
    return page;
  };
}

export type RelatedList = ReturnType<typeof createRelatedList>;

function relatedSql(type: ContentType, relation: PopulatedRelation): string {
  const shape = { hidden: relation.hidden, populate: relation.relations };
  const rows = relatedRows({ relation, parent: 't', alias: 'r', source: sourceOf(relation.type, {}), drafts: type.definition.with_draft_publish === true });
  const columns = shapeColumns(relation.type, shape).map((column) => `r.${column}`);
  const page = `select ${columns.join(', ')} ${rows} limit $3::int8 offset $4::int8`;
  return (
    `select t._version as version, (select count(*) from (select 1 ${rows}) r) as total, ` +
    `(select '[' || coalesce(string_agg(${entryJson(relation.type, shape, 'r')}, ','), '') || ']' from (${page}) r) as json ` +
    `from ${tableOf(type)} t where t.id = $2 and t.tenant_id = ${TENANT} and t._deleted_at is null`
  );
}
