import {
  type Condition,
  FILTER_OPERATORS,
  type FilterOperator,
  type QueryColumn,
  queryColumn,
} from '../../domain/content/entry-query.ts';
import { readValue } from '../../domain/content/entry-value.ts';
import { FIELD_TYPE_SPECS } from '../../domain/content/field-types.ts';
import { invalidParameter } from '../http/query-parameters.ts';
import type { ListAccess } from './list-access.ts';

type FilterValue = Condition['values'][number];

const MAX_CONDITIONS = 50;
const MAX_CHOICES = 200;

/** Operators that need an ordered type, and operators that need a text type. */
const ORDERING: ReadonlySet<FilterOperator> = new Set(['$gt', '$gte', '$lt', '$lte', '$between']);
const TEXTUAL: ReadonlySet<FilterOperator> = new Set(['$contains', '$startsWith', '$endsWith']);

/**
 * Parses `filters[f]=v` and `filters[f][$op]=v` into conditions, which must all hold.
 * @throws `invalid_query_parameter` naming an unknown field or operator, or a value that is not of the field's type
 */
export function parseFilters(access: ListAccess, filters: unknown): readonly Condition[] {
  if (filters === undefined) return [];
  if (!isRecord(filters)) throw invalidParameter('filters');
  const conditions = Object.entries(filters).flatMap(([name, input]) => {
    const parameter = `filters[${name}]`;
    const column = queryColumn(access.type, access.hidden, name);
    if (!column) throw invalidParameter(parameter);
    if (!isRecord(input)) return [parseCondition({ column, operator: '$eq', input, parameter })];
    return Object.entries(input).map(([operator, value]) => {
      if (!isOperator(operator)) throw invalidParameter(`${parameter}[${operator}]`);
      return parseCondition({ column, operator, input: value, parameter: `${parameter}[${operator}]` });
    });
  });
  if (conditions.length > MAX_CONDITIONS) throw invalidParameter('filters');
  return conditions;
}

function parseCondition({
  column,
  operator,
  input,
  parameter,
}: {
  readonly column: QueryColumn;
  readonly operator: FilterOperator;
  readonly input: unknown;
  readonly parameter: string;
}): Condition {
  const spec = FIELD_TYPE_SPECS[column.type];
  if (operator === '$null' || operator === '$notNull') {
    const holds = input === 'true' || input === '' ? true : input === 'false' ? false : undefined;
    if (holds === undefined) throw invalidParameter(parameter);
    return { column, operator: holds === (operator === '$null') ? '$null' : '$notNull', values: [] };
  }
  if (column.type === 'json' || (ORDERING.has(operator) && !spec.ordered) || (TEXTUAL.has(operator) && !spec.textual))
    throw invalidParameter(parameter);
  const texts = splitValues(operator, input);
  if (texts === undefined || texts.length > MAX_CHOICES || (operator === '$between' && texts.length !== 2))
    throw invalidParameter(parameter);
  const values = texts.map((text) => parseFilterValue(column, text));
  if (!values.every((value) => value !== undefined)) throw invalidParameter(parameter);
  return { column, operator, values };
}

/**
 * The values of an operator: `$in`, `$notIn` and `$between` take a comma-separated or repeated list, the others one
 * text.
 */
function splitValues(operator: FilterOperator, input: unknown): readonly string[] | undefined {
  if (operator !== '$in' && operator !== '$notIn' && operator !== '$between')
    return typeof input === 'string' ? [input] : undefined;
  const list = typeof input === 'string' ? input.split(',') : input;
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
}

/** Converts the text of a filter to a value of the column's type. @returns undefined when it is not one */
function parseFilterValue({ type }: QueryColumn, text: string): FilterValue | undefined {
  switch (type) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'integer':
      return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case 'number':
      return /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text) && Number.isFinite(Number(text))
        ? Number(text)
        : undefined;
    case 'decimal':
    case 'time':
    case 'uuid':
    case 'media':
    case 'relation':
    case 'date':
      return readText(type, text);
    case 'datetime':
      // A date without a time means the start of that day.
      return readText('datetime', /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
    case 'text':
    case 'rich_text':
    case 'url':
    case 'email':
    case 'slug':
      return readText('text', text);
    case 'json':
      return undefined;
  }
}

function readText(type: QueryColumn['type'], text: string): string | undefined {
  const read = readValue({ id: '', name: '', field_type: type }, text);
  return read.ok && typeof read.value === 'string' ? read.value : undefined;
}

function isOperator(text: string): text is FilterOperator {
  const operators: readonly string[] = FILTER_OPERATORS;
  return operators.includes(text);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
