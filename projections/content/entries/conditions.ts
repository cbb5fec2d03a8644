import type { Condition, EntryQuery, QueryColumn, SortKey } from '../../../domain/content/entry-query.ts';
import { FIELD_TYPE_SPECS } from '../../../domain/content/field-types.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { indexedExpression } from '../content-types/column-sql.ts';

/** The values bound to a statement, in the order of their placeholders. */
export type BoundValues = { readonly values: unknown[] };

/** Binds a value. @returns its placeholder with a cast, such as `$3::text` */
export function bindValue(parameters: BoundValues, value: unknown, cast: string): string {
  parameters.values.push(value);
  return `$${parameters.values.length}::${cast}`;
}

/** SQL of one condition on the table `alias`. For `$ne` and `$notIn`, null differs from every value. */
export function conditionSql(condition: Condition, parameters: BoundValues, alias = 't'): string {
  const { column, operator, values } = condition;
  if (column.many === true) return memberSql(condition, parameters, alias);
  const name = columnSql(column, alias);
  const cast = castOf(column);
  const first = (): string => bindValue(parameters, values[0], cast);
  switch (operator) {
    case '$eq': {
      const value = first();
      const whole = `${name} = ${value}`;
      return column.indexed && cast === 'text'
        ? `${indexedExpression('text', name)} = ${indexedExpression('text', value)} and ${whole}`
        : whole;
    }
    case '$ne':
      return `${name} is distinct from ${first()}`;
    case '$gt':
      return `${name} > ${first()}`;
    case '$gte':
      return `${name} >= ${first()}`;
    case '$lt':
      return `${name} < ${first()}`;
    case '$lte':
      return `${name} <= ${first()}`;
    case '$in':
      return `${name} = any(${bindValue(parameters, values, `${cast}[]`)})`;
    case '$notIn':
      return `(${name} is null or ${name} <> all(${bindValue(parameters, values, `${cast}[]`)}))`;
    case '$contains':
      return `strpos(${name}, ${first()}) > 0`;
    case '$startsWith':
      return `starts_with(${name}, ${first()})`;
    case '$endsWith': {
      const value = first();
      return `right(${name}, length(${value})) = ${value}`;
    }
    case '$between':
      return `${name} between ${first()} and ${bindValue(parameters, values[1], cast)}`;
    case '$null':
      return `${name} is null`;
    case '$notNull':
      return `${name} is not null`;
  }
}

/**
 * SQL of a condition on a list of ids: whether the list contains any of the values. `&&` uses the column's GIN index.
 */
function memberSql({ column, operator, values }: Condition, parameters: BoundValues, alias: string): string {
  const name = columnSql(column, alias);
  if (operator === '$null' || operator === '$notNull') return `${name} ${operator === '$null' ? '=' : '<>'} '{}'`;
  const holds = `${name} && ${bindValue(parameters, values, 'uuid[]')}`;
  return operator === '$ne' || operator === '$notIn' ? `not (${holds})` : holds;
}

/**
 * SQL expression of a sort key. Texts sort by the expression of their index (a prefix), which also keeps cursors small.
 */
export function sortSql({ column }: SortKey): string {
  return indexedExpression(FIELD_TYPE_SPECS[column.type].columnType, columnSql(column));
}

/**
 * The list of ORDER BY. Null sorts last ascending and first descending, as in a PostgreSQL index. The id follows as the
 * last key, in the direction of the key before it, so that one index serves both directions.
 */
export function orderSql(sort: readonly SortKey[], valueOf: (key: SortKey, index: number) => string = sortSql): string {
  return [
    ...sort.map((key, index) => `${valueOf(key, index)} ${direction(key)}`),
    `t."id" ${direction(sort.at(-1))}`,
  ].join(', ');
}

function direction(key: SortKey | undefined): 'asc' | 'desc' {
  return key?.descending === true ? 'desc' : 'asc';
}

/** SQL that is true for the rows after the cursor in the order of the sort keys. */
export function afterSql(
  sort: readonly SortKey[],
  after: NonNullable<EntryQuery['after']>,
  parameters: BoundValues,
): string {
  return `(${afterRanges(sort, after, parameters).join(' or ')})`;
}

/**
 * As `afterSql`, but split into conditions whose rows follow each other in the order. Each has a single lower or upper
 * bound on the first key, so that an index scan can start there instead of at the start of the list.
 */
export function afterRanges(
  sort: readonly SortKey[],
  after: NonNullable<EntryQuery['after']>,
  parameters: BoundValues,
): readonly string[] {
  const keys = sort.map((key, index): BoundKey => {
    const value = after.values[index] ?? null;
    return {
      key,
      sql: sortSql(key),
      value: value === null ? undefined : bindValue(parameters, value, castOf(key.column)),
    };
  });
  const afterId = `t."id" ${sort.at(-1)?.descending === true ? '<' : '>'} ${bindValue(parameters, after.id, 'uuid')}`;
  const [first, ...others] = keys;
  const inner = others.reduceRight((rest, bound) => afterOrEqualSql(bound, rest), afterId);
  if (!first) return [inner];
  const { sql, value, key } = first;
  if (value === undefined) return [`${sql} is null and ${inner}`, ...(key.descending ? [`${sql} is not null`] : [])];
  const within = `${sql} ${key.descending ? '<=' : '>='} ${value} and ${afterOrEqualSql(first, inner)}`;
  return [within, ...(!key.descending && key.column.nullable ? [`${sql} is null`] : [])];
}

/** A sort key and the placeholder of its value in the cursor; undefined for null. */
type BoundKey = { readonly key: SortKey; readonly sql: string; readonly value: string | undefined };

/** SQL: the key is after its value in the cursor, or equal to it and `inner` holds. */
function afterOrEqualSql({ key, sql, value }: BoundKey, inner: string): string {
  const after = afterKeySql(key, sql, value);
  const same = value === undefined ? `${sql} is null` : `${sql} = ${value}`;
  return `(${after === undefined ? '' : `${after} or `}(${same} and ${inner}))`;
}

/** SQL: the key alone is after its value in the cursor; undefined where no row can be. */
function afterKeySql({ column, descending }: SortKey, sql: string, value: string | undefined): string | undefined {
  if (value === undefined) return descending ? `${sql} is not null` : undefined;
  if (descending) return `${sql} < ${value}`;
  return column.nullable ? `${sql} > ${value} or ${sql} is null` : `${sql} > ${value}`;
}

function columnSql({ column }: QueryColumn, alias = 't'): string {
  return `${alias}.${quoteIdentifier(column)}`;
}

function castOf({ type }: QueryColumn): string {
  return FIELD_TYPE_SPECS[type].columnType;
}
