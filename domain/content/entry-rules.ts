import { RE2JS } from 're2js';
import type { FieldError } from '../errors.ts';
import type { Json } from '../json.ts';
import { canonicalDecimal, compareDecimals } from './decimal.ts';
import type { FieldType, ValidationRule } from './definition.ts';
import type { FieldValues } from './entry-events.ts';
import type { StoredField } from './entry-fields.ts';

/**
 * Checks a value other than null.
 * @returns the reason for a refusal, or undefined
 */
type Check = (value: Json) => string | undefined;

/** The compiled validation rules of one field. */
export type FieldRules = { readonly checks: readonly Check[]; readonly comparisons: readonly Comparison[] };

/** The rule `compare {op, field}` between two fields. It applies when both have a value. */
type Comparison = {
  readonly key: string;
  readonly other: string;
  readonly type: FieldType;
  readonly op: ComparisonOperator;
};

const COMPARISONS = {
  eq: { holds: (order: number) => order === 0, message: 'must equal' },
  ne: { holds: (order: number) => order !== 0, message: 'must differ from' },
  gt: { holds: (order: number) => order > 0, message: 'must be greater than' },
  gte: { holds: (order: number) => order >= 0, message: 'must be at least' },
  lt: { holds: (order: number) => order < 0, message: 'must be less than' },
  lte: { holds: (order: number) => order <= 0, message: 'must be at most' },
} as const;
type ComparisonOperator = keyof typeof COMPARISONS;

/** Compiles a field's validation rules. Patterns are RE2, so matching takes linear time for any input. */
export function compileRules(field: StoredField, fields: readonly StoredField[]): FieldRules {
  const rules = field.definition.validation ?? [];
  const type = field.definition.field_type;
  return {
    checks: rules.flatMap((rule) => compileCheck(rule, type) ?? []),
    comparisons: rules.flatMap((rule) => compileComparison(rule, field, fields) ?? []),
  };
}

/** The errors of the comparisons that involve a field of `touched`. */
export function compareFields(
  comparisons: readonly Comparison[],
  values: FieldValues,
  touched: (key: string) => boolean,
): readonly FieldError[] {
  return comparisons.flatMap(({ key, other, type, op }) => {
    const [left = null, right = null] = [values[key], values[other]];
    if (left === null || right === null || !(touched(key) || touched(other))) return [];
    return COMPARISONS[op].holds(compareValues(type, left, right))
      ? []
      : [{ field: key, message: `${COMPARISONS[op].message} ${other}` }];
  });
}

/**
 * Compares two values of one type: decimals exactly, dates and times in time order, numbers by value, other values by
 * code unit.
 * @returns a negative number, zero or a positive number
 */
function compareValues(type: FieldType, left: Json, right: Json): number {
  if (type === 'decimal') return compareDecimals(orderText(left), orderText(right));
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [orderText(left), orderText(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function orderText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function compileCheck({ rule, params }: ValidationRule, type: FieldType): Check | undefined {
  switch (rule) {
    case 'enum': {
      const allowed = new Set(
        Array.isArray(params['values']) ? params['values'].map((value: Json) => enumKey(type, value)) : [],
      );
      return (value) => (allowed.has(enumKey(type, value)) ? undefined : 'must be one of the allowed values');
    }
    case 'min':
    case 'max': {
      const bound = params['value'];
      if (typeof bound !== 'number' && typeof bound !== 'string') return undefined;
      const limit = type === 'decimal' ? String(bound) : bound;
      return rule === 'min'
        ? (value) => (compareValues(type, value, limit) >= 0 ? undefined : `must be at least ${bound}`)
        : (value) => (compareValues(type, value, limit) <= 0 ? undefined : `must be at most ${bound}`);
    }
    case 'min_length':
    case 'max_length': {
      const bound = params['value'];
      if (typeof bound !== 'number') return undefined;
      return rule === 'min_length'
        ? (value) => (lengthOf(value) >= bound ? undefined : `must hold at least ${bound} characters`)
        : (value) => (lengthOf(value) <= bound ? undefined : `must hold at most ${bound} characters`);
    }
    case 'pattern': {
      if (typeof params['pattern'] !== 'string') return undefined;
      const pattern = RE2JS.compile(params['pattern']);
      return (value) =>
        typeof value === 'string' && pattern.matcher(value).find() ? undefined : 'does not match the pattern';
    }
    default:
      return undefined;
  }
}

function compileComparison(
  { rule, params }: ValidationRule,
  field: StoredField,
  fields: readonly StoredField[],
): Comparison | undefined {
  const { op, field: name } = params;
  const other = fields.find(({ key, definition }) => key === name || definition.name === name);
  if (rule !== 'compare' || !other || typeof op !== 'string' || !Object.hasOwn(COMPARISONS, op)) return undefined;
  return { key: field.key, other: other.key, type: field.definition.field_type, op: op as ComparisonOperator };
}

function enumKey(type: FieldType, value: Json): string {
  return type === 'decimal' ? canonicalDecimal(orderText(value)) : JSON.stringify(value);
}

/** Length in characters (code points). */
function lengthOf(value: Json): number {
  return typeof value === 'string' ? Array.from(value).length : 0;
}
