import type { ContentType } from '../../../domain/content/content-type.ts';
import { MAX_LINKS } from '../../../domain/content/entry-value.ts';
import { isManyToMany } from '../../../domain/content/field-types.ts';
import { MAX_MANY, MAX_POPULATED } from '../../../domain/content/populate-plan.ts';
import type { PopulatedRelation, PopulatePlan } from '../../../domain/content/populate-plan.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { refusal } from '../../../domain/errors.ts';
import type { AppError } from '../../../domain/errors.ts';
import { isList, relatedRows } from './related-rows.ts';

/** Whether so many entries with their relations could hold more related entries than one answer may. */
export function mayExceed(plan: PopulatePlan, entries: number): boolean {
  return mostOf(plan, entries) > MAX_POPULATED;
}

function mostOf(plan: PopulatePlan, entries: number): number {
  return plan.reduce((sum, relation) => {
    const most = entries * (isManyToMany(relation.field) ? MAX_LINKS : isList(relation) ? MAX_MANY : 1);
    return sum + (isList(relation) ? most : 0) + mostOf(relation.relations, most);
  }, 0);
}

/**
 * SQL that holds while the rows of `page` have no more related entries than one answer may hold. It counts without making anything of them, and stops counting
 * there.
 */
export function withinBound(plan: PopulatePlan, page: string, sourceOf: (type: ContentType) => string): string {
  const chains = chainsOf(plan).map((chain) => `select 1 from ${page} p0, ${chain.map((relation, index) => step(relation, index, index === chain.length - 1)).join(', ')}`);
  return `(select count(*) from (${chains.join(' union all ')} limit ${MAX_POPULATED + 1}) c) <= ${MAX_POPULATED}`;

  function step(relation: PopulatedRelation, index: number, isLast: boolean): string {
    const [parent, alias] = [`p${index}`, `p${index + 1}`];
    if (isLast && isManyToMany(relation.field)) return `unnest(${parent}.${quoteIdentifier(relation.field.name)}) ${alias}`;
    // Drafts may be counted that are not shown: a bound need not be tight.
    const rows = relatedRows({ relation, parent, alias, source: sourceOf(relation.type), drafts: true });
    const limit = relation.field.relation_type === 'has_many' ? ` limit ${MAX_MANY}` : relation.field.relation_type === 'has_one' ? ' limit 1' : '';
    return `lateral (select ${isLast ? '1' : `${alias}.*`} ${rows}${limit}) ${alias}`;
  }
}

/** What an answer that would hold too many is refused with. */
export function refusePopulate(): AppError {
  return refusal('invalid_query_parameter', { message: 'invalid query parameter: populate' });
}

/** Every way down the plan that ends in a list. */
function chainsOf(plan: PopulatePlan): readonly (readonly PopulatedRelation[])[] {
  return plan.flatMap((relation) => [...(isList(relation) ? [[relation]] : []), ...chainsOf(relation.relations).map((chain) => [relation, ...chain])]);
}
