import type { ContentType } from '../../../domain/content/content-type.ts';
import { MAX_LINKS } from '../../../domain/content/entry-value.ts';
import { isManyToMany } from '../../../domain/content/field-types.ts';
import {
  MAX_MANY,
  MAX_POPULATED,
  type PopulatePlan,
  type PopulatedRelation,
} from '../../../domain/content/populate-plan.ts';
import { type AppError, refusal } from '../../../domain/errors.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { isList, relatedRows, rowLimit } from './related-rows.ts';

/** Whether a response with this number of entries could contain more related entries than the limit of 10,000. */
export function mayExceed(plan: PopulatePlan, entries: number): boolean {
  return maxRelated(plan, entries) > MAX_POPULATED;
}

function maxRelated(plan: PopulatePlan, entries: number): number {
  return plan.reduce((sum, relation) => {
    const most = entries * (isManyToMany(relation.field) ? MAX_LINKS : isList(relation) ? MAX_MANY : 1);
    return sum + (isList(relation) ? most : 0) + maxRelated(relation.relations, most);
  }, 0);
}

/**
 * SQL: whether the rows of `page` have at most as many related entries as one response may contain. It counts them
 * before their JSON is made, and stops counting above the limit.
 */
export function withinBound(plan: PopulatePlan, page: string, sourceOf: (type: ContentType) => string): string {
  const chains = chainsOf(plan).map(
    (chain) =>
      `select 1 from ${page} p0,
       ${chain.map((relation, index) => step(relation, index, index === chain.length - 1)).join(', ')}`,
  );
  return `(select count(*) from (${chains.join(' union all ')} limit ${MAX_POPULATED + 1}) c) <= ${MAX_POPULATED}`;

  function step(relation: PopulatedRelation, index: number, isLast: boolean): string {
    const [parent, alias] = [`p${index}`, `p${index + 1}`];
    if (isLast && isManyToMany(relation.field))
      return `unnest(${parent}.${quoteIdentifier(relation.field.name)}) ${alias}`;
    // This also counts drafts that the response leaves out: the limit need not be exact.
    const rows = relatedRows({ relation, parent, alias, source: sourceOf(relation.type), drafts: true });
    return `lateral (select ${isLast ? '1' : `${alias}.*`} ${rows}${rowLimit(relation)}) ${alias}`;
  }
}

/** The refusal of a response that would contain too many related entries. */
export function populateRefusal(): AppError {
  return refusal('invalid_query_parameter', { message: 'invalid query parameter: populate' });
}

/** Every path of relations in the plan that ends in a list. */
function chainsOf(plan: PopulatePlan): readonly (readonly PopulatedRelation[])[] {
  return plan.flatMap((relation) => [
    ...(isList(relation) ? [[relation]] : []),
    ...chainsOf(relation.relations).map((chain) => [relation, ...chain]),
  ]);
}
