import type { FieldError } from '../errors.ts';
import type { Json } from '../json.ts';
import { ownValue } from '../own-value.ts';
import { canonicalDecimal, compareDecimals } from './decimal.ts';
import type { FieldType, ValidationRule } from './definition.ts';
import type { FieldValues } from './entry-events.ts';
import type { StoredField } from './entry-fields.ts';
import { MAX_PATTERN_STEPS, compilePattern } from './field-pattern.ts';

/**
 * Checks a value other than null.
 * @returns the reason for a refusal, or undefined
 */
type Check = (value: Json) => string | undefined;

/** The compiled validation rules of one field. `patternSize` is the number of instructions of its patterns. */
export type FieldRules = {
  readonly checks: readonly Check[];
  readonly comparisons: readonly Comparison[];
  readonly patternSize: number;
};

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

/** Compiles a field's validation rules. */
export function compileRules(field: StoredField, fields: readonly StoredField[]): FieldRules {
  const rules = field.definition.validation ?? [];
  const type = field.definition.field_type;
  const compiled = rules.flatMap((rule) => compileCheck(rule, type) ?? []);
  return {
    checks: compiled.map(({ check }) => check),
    patternSize: compiled.reduce((sum, { patternSize = 0 }) => sum + patternSize, 0),
    comparisons: rules.flatMap((rule) => compileComparison(rule, field, fields) ?? []),
  };
}

/** Counts the steps of the patterns for the values of one write. */
export type PatternBudget = {
  /** The reason to refuse a value whose patterns would take too many steps; undefined: they may run. */
  consume(rules: Pick<FieldRules, 'patternSize'>, value: Json): string | undefined;
};

export function createPatternBudget(): PatternBudget {
  let left = MAX_PATTERN_STEPS;
  return {
    consume({ patternSize }, value) {
      if (patternSize === 0 || typeof value !== 'string') return undefined;
      const steps = patternSize * value.length;
      if (steps > MAX_PATTERN_STEPS)
        return `must have at most ${Math.floor(MAX_PATTERN_STEPS / patternSize)} characters because of its pattern`;
      if (steps > left) return 'is too long, together with the other fields that have patterns';
      left -= steps;
      return undefined;
    },
  };
}

/** The errors of the comparisons that involve a field of `touched`. */
export function compareFields(
  comparisons: readonly Comparison[],
  values: FieldValues,
  touched: (key: string) => boolean,
): readonly FieldError[] {
  return comparisons.flatMap(({ key, other, type, op }) => {
    const [left = null, right = null] = [ownValue(values, key), ownValue(values, other)];
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

/** A check of one value; for a pattern with the number of its instructions. */
type CompiledCheck = { readonly check: Check; readonly patternSize?: number };

function compileCheck({ rule, params }: ValidationRule, type: FieldType): CompiledCheck | undefined {
  switch (rule) {
    case 'enum': {
      const allowed = new Set(
        Array.isArray(params['values']) ? params['values'].map((value: Json) => enumKey(type, value)) : [],
      );
      return {
        check: (value) => (allowed.has(enumKey(type, value)) ? undefined : 'must be one of the allowed values'),
      };
    }
    case 'min':
    case 'max': {
      const bound = params['value'];
      if (typeof bound !== 'number' && typeof bound !== 'string') return undefined;
      const limit = type === 'decimal' ? String(bound) : bound;
      return rule === 'min'
        ? { check: (value) => (compareValues(type, value, limit) >= 0 ? undefined : `must be at least ${bound}`) }
        : { check: (value) => (compareValues(type, value, limit) <= 0 ? undefined : `must be at most ${bound}`) };
    }
    case 'min_length':
    case 'max_length': {
      const bound = params['value'];
      if (typeof bound !== 'number') return undefined;
      return rule === 'min_length'
        ? { check: (value) => (lengthOf(value) >= bound ? undefined : `must have at least ${bound} characters`) }
        : { check: (value) => (lengthOf(value) <= bound ? undefined : `must have at most ${bound} characters`) };
    }
    case 'pattern': {
      if (typeof params['pattern'] !== 'string') return undefined;
      const pattern = compilePattern(params['pattern']);
      return {
        check: (value) =>
          typeof value === 'string' && pattern.matches(value) ? undefined : 'does not match the pattern',
        patternSize: pattern.size,
      };
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
