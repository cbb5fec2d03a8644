import type { Condition, EntryQuery, QueryColumn, SortKey } from '../../../domain/content/entry-query.ts';
import { FIELD_TYPE_SPECS, indexedExpression } from '../../../domain/content/field-types.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';

/** Values bound to a statement, in order. */
export type Parameters = { readonly values: unknown[] };

/** Binds a value. @returns its placeholder, cast to the column's type */
export function bind(parameters: Parameters, value: unknown, cast: string): string {
  parameters.values.push(value);
  return `$${parameters.values.length}::${cast}`;
}

/** SQL of one condition over an alias. Rows without a value differ from every value. */
export function conditionSql(condition: Condition, parameters: Parameters, alias = 't'): string {
  const { column, operator, values } = condition;
  if (column.many === true) return memberSql(condition, parameters, alias);
  const name = columnSql(column, alias);
  const cast = castOf(column);
  const first = (): string => bind(parameters, values[0], cast);
  switch (operator) {
    case '$eq': {
      const value = first();
      const whole = `${name} = ${value}`;
      return column.indexed && cast === 'text' ? `${indexedExpression('text', name)} = ${indexedExpression('text', value)} and ${whole}` : whole;
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
      return `${name} = any(${bind(parameters, values, `${cast}[]`)})`;
    case '$notIn':
      return `(${name} is null or ${name} <> all(${bind(parameters, values, `${cast}[]`)}))`;
    case '$contains':
      return `strpos(${name}, ${first()}) > 0`;
    case '$startsWith':
      return `starts_with(${name}, ${first()})`;
    case '$endsWith': {
      const value = first();
      return `right(${name}, length(${value})) = ${value}`;
    }
    case '$between':
      return `${name} between ${first()} and ${bind(parameters, values[1], cast)}`;
    case '$null':
      return `${name} is null`;
    case '$notNull':
      return `${name} is not null`;
  }
}

/** SQL of a condition on a list of ids, in the form its index serves: whether it holds any of the values. */
function memberSql({ column, operator, values }: Condition, parameters: Parameters, alias: string): string {
  const name = columnSql(column, alias);
  if (operator === '$null' || operator === '$notNull') return `${name} ${operator === '$null' ? '=' : '<>'} '{}'`;
  const holds = `${name} && ${bind(parameters, values, 'uuid[]')}`;
  return operator === '$ne' || operator === '$notIn' ? `not (${holds})` : holds;
}

/** What a sort key orders by: texts by what their index holds, so that a cursor stays small and an index serves. */
export function sortSql({ column }: SortKey): string {
  return indexedExpression(FIELD_TYPE_SPECS[column.type].sqlType, columnSql(column));
}

/** ORDER BY: null last ascending, first descending, as an index gives it; at the end the id, in the direction of the last key, so that one index serves both ways. */
export function orderSql(sort: readonly SortKey[], valueOf: (key: SortKey, index: number) => string = sortSql): string {
  return [...sort.map((key, index) => `${valueOf(key, index)} ${direction(key)}`), `t."id" ${direction(sort.at(-1))}`].join(', ');
}

function direction(key: SortKey | undefined): 'asc' | 'desc' {
  return key?.descending === true ? 'desc' : 'asc';
}

/** SQL that holds for the rows after the cursor in the order of the sort keys. */
export function afterSql(sort: readonly SortKey[], after: NonNullable<EntryQuery['after']>, parameters: Parameters): string {
  return `(${afterRanges(sort, after, parameters).join(' or ')})`;
}

/** The same in parts that come one after the other in that order; each has one bound on the first key, so that an index begins there. */
export function afterRanges(sort: readonly SortKey[], after: NonNullable<EntryQuery['after']>, parameters: Parameters): readonly string[] {
  const keys = sort.map((key, index): PlacedKey => {
    const value = after.values[index] ?? null;
    return { key, sql: sortSql(key), value: value === null ? undefined : bind(parameters, value, castOf(key.column)) };
  });
  const beyondId = `t."id" ${sort.at(-1)?.descending === true ? '<' : '>'} ${bind(parameters, after.id, 'uuid')}`;
  const [first, ...others] = keys;
  const inner = others.reduceRight((rest, placed) => beyondOrSame(placed, rest), beyondId);
  if (!first) return [inner];
  const { sql, value, key } = first;
  if (value === undefined) return [`${sql} is null and ${inner}`, ...(key.descending ? [`${sql} is not null`] : [])];
  const within = `${sql} ${key.descending ? '<=' : '>='} ${value} and ${beyondOrSame(first, inner)}`;
  return [within, ...(!key.descending && key.column.nullable ? [`${sql} is null`] : [])];
}

/** A sort key and its value in the cursor, bound; undefined: null. */
type PlacedKey = { readonly key: SortKey; readonly sql: string; readonly value: string | undefined };

function beyondOrSame({ key, sql, value }: PlacedKey, inner: string): string {
  const beyond = beyondSql(key, sql, value);
  const same = value === undefined ? `${sql} is null` : `${sql} = ${value}`;
  return `(${beyond === undefined ? '' : `${beyond} or `}(${same} and ${inner}))`;
}

function beyondSql({ column, descending }: SortKey, sql: string, value: string | undefined): string | undefined {
  if (value === undefined) return descending ? `${sql} is not null` : undefined;
  if (descending) return `${sql} < ${value}`;
  return column.nullable ? `${sql} > ${value} or ${sql} is null` : `${sql} > ${value}`;
}

function columnSql({ column }: QueryColumn, alias = 't'): string {
  return `${alias}.${quoteIdentifier(column)}`;
}

function castOf({ type }: QueryColumn): string {
  return FIELD_TYPE_SPECS[type].sqlType;
}
