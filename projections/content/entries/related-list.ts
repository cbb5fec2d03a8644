import type { ContentType } from '../../../domain/content/content-type.ts';
import { type PopulatedRelation, populateKey } from '../../../domain/content/populate-plan.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { entryJson, shapeColumns, sourceOf, tableOf } from './entry-json.ts';
import { TENANT, relatedRows } from './related-rows.ts';
import { MAX_RESPONSE_BYTES, boundedArray, refusingLarge } from './response-size.ts';
import type { StatementCache } from './statements.ts';

/** One page of an entry's related entries as the text of a JSON array, their total number, and the entry's version. */
export type RelatedPage = { readonly json: string; readonly total: number; readonly version: number };

export type RelatedQuery = {
  readonly type: ContentType;
  readonly id: string;
  readonly relation: PopulatedRelation;
  readonly limit: number;
  readonly offset: number;
};

/**
 * Lists the entries that one relation of an entry refers to, in their order, with a single statement. The function
 * returns undefined when the entry does not exist, and throws `invalid_query_parameter` naming `limit` when the page
 * would be too large.
 */
export function createRelatedList({
  database,
  statements,
  maxBytes = MAX_RESPONSE_BYTES,
}: {
  readonly database: Pick<Database, 'query' | 'execute'>;
  readonly statements: StatementCache;
  /** Largest JSON text of a page in bytes. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}) {
  return async function listRelated({
    type,
    id,
    relation,
    limit,
    offset,
  }: RelatedQuery): Promise<RelatedPage | undefined> {
    const { text, name } = statements.get(`related ${type.id} ${type.revision} ${populateKey([relation])}`, () =>
      relatedSql(type, relation, maxBytes),
    );
    const [page] = await refusingLarge({ parameter: 'limit', maxBytes }, () =>
      database.query<RelatedPage>(text, [type.tenant, id, limit, offset], name),
    );
    return page;
  };
}

export type RelatedList = ReturnType<typeof createRelatedList>;

function relatedSql(type: ContentType, relation: PopulatedRelation, maxBytes: number): string {
  const shape = { hidden: relation.hidden, populate: relation.relations, maxBytes };
  const rows = relatedRows({
    relation,
    parent: 't',
    alias: 'r',
    source: sourceOf(relation.type, {}),
    drafts: type.definition.with_draft_publish === true,
  });
  const columns = shapeColumns(relation.type, shape).map((column) => `r.${column}`);
  const page = `select ${columns.join(', ')} ${rows} limit $3::int8 offset $4::int8`;
  return (
    `select t._version as version, (select count(*) from (select 1 ${rows}) r) as total, ` +
    `${boundedArray({ json: entryJson(relation.type, shape, 'r'), from: `(${page}) r`, maxBytes, isPage: true })} as json ` +
    `from ${tableOf(type)} t where t.id = $2 and t.tenant_id = ${TENANT} and t._deleted_at is null`
  );
}
