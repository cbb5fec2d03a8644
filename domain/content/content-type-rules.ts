import type { Json } from '../json.ts';
import { ownValue } from '../own-value.ts';
import type { ContentTypeDefinition, FieldDefinition, ValidationRule } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { compileRules, createPatternBudget } from './entry-rules.ts';
import { readValue } from './entry-value.ts';
import { MAX_PATTERN_SIZE, MAX_PATTERN_SIZES, compilePattern, estimatedSize } from './field-pattern.ts';
import { FIELD_TYPE_SPECS, columnTypeOf, isManyToMany, isStored } from './field-types.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import { isRecord, parseObject } from './parse-json.ts';

type Field = Omit<FieldDefinition, 'id'>;
type Params = { readonly [name: string]: Json };

const COMPARE_OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'];
const MAX_PATTERN = 1000;
const MAX_ENUM = 1000;

/** The parameters of each validation rule, and how they are read for a field. */
const RULES: {
  readonly [rule: string]: {
    readonly params: readonly string[];
    readonly read: (params: Params, field: Field) => Params;
  };
} = {
  enum: { params: ['values'], read: readEnum },
  min: { params: ['value'], read: readBound },
  max: { params: ['value'], read: readBound },
  min_length: { params: ['value'], read: readLength },
  max_length: { params: ['value'], read: readLength },
  pattern: { params: ['pattern'], read: readPattern },
  compare: { params: ['op', 'field'], read: readCompare },
};

/**
 * Reads a field's validation rules. `checkRules` then checks what depends on other fields.
 * @throws InvalidDefinition
 */
export function parseRules(input: Json | undefined, field: Field, prefix: string): readonly ValidationRule[] {
  if (input === undefined || input === null) return [];
  if (!Array.isArray(input)) throw new InvalidDefinition(`${prefix}validation must be a list`);
  return input.map((item: Json) => {
    const body = parseObject(item, `${prefix}a validation rule`, ['rule', 'params']);
    const rule = body['rule'];
    const parsedRule = typeof rule === 'string' ? ownValue(RULES, rule) : undefined;
    if (typeof rule !== 'string' || !parsedRule)
      throw new InvalidDefinition(`${prefix}unknown validation rule ${JSON.stringify(rule ?? '').slice(0, 80)}`);
    if (!isStored(field) || isManyToMany(field))
      throw new InvalidDefinition(`${prefix}a relation of kind ${field.relation_type ?? ''} has no validation rules`);
    const params = parseObject(body['params'] ?? {}, `${prefix}params of ${rule}`, parsedRule.params);
    const missing = parsedRule.params.find(
      (name) => ownValue(params, name) === undefined || ownValue(params, name) === null,
    );
    if (missing !== undefined) throw new InvalidDefinition(`${prefix}${rule} needs params.${missing}`);
    try {
      return { rule, params: parsedRule.read(present(params), field) };
    } catch (error) {
      if (error instanceof InvalidDefinition) throw new InvalidDefinition(`${prefix}${rule}: ${error.reason}`);
      throw error;
    }
  });
}

/**
 * Checks the patterns, the rules that refer to other fields, and the default values against the rules.
 * @throws InvalidDefinition
 */
export function checkRules(definition: ContentTypeDefinition): void {
  const stored = definition.fields.filter(isStored).map((field) => ({ key: keyOf(field), definition: field }));
  checkPatterns(definition);
  const budget = createPatternBudget();
  for (const field of stored) {
    const { name, default: fallback, validation = [] } = field.definition;
    for (const { rule, params } of validation) {
      if (rule !== 'compare') continue;
      const other = stored.find(
        (candidate) => candidate.key === params['field'] || candidate.definition.name === params['field'],
      );
      if (!other || other.key === field.key)
        throw new InvalidDefinition(`field "${name}": compare: params.field names no other field`);
      if (columnTypeOf(other.definition) !== columnTypeOf(field.definition)) {
        throw new InvalidDefinition(`field "${name}": compare: "${other.definition.name}" is of another type`);
      }
    }
    if (fallback === undefined || fallback === '') continue;
    const rules = compileRules(field, stored);
    const problem =
      budget.consume(rules, fallback) ??
      rules.checks.map((check) => check(fallback)).find((reason) => reason !== undefined);
    if (problem !== undefined) throw new InvalidDefinition(`field "${name}": default ${problem}`);
  }
}

/**
 * Compiles every pattern, unless they are too large together.
 * @throws InvalidDefinition
 */
function checkPatterns(definition: ContentTypeDefinition): void {
  const patterns = definition.fields.flatMap(({ name, validation = [] }) =>
    validation.flatMap(({ rule, params }) =>
      rule === 'pattern' && typeof params['pattern'] === 'string' ? [{ name, pattern: params['pattern'] }] : [],
    ),
  );
  if (patterns.reduce((sum, { pattern }) => sum + estimatedSize(pattern), 0) > MAX_PATTERN_SIZES)
    throw new InvalidDefinition(
      `the patterns of all fields must have at most ${MAX_PATTERN_SIZES} characters together, ` +
        'with repetitions written out',
    );
  for (const { name, pattern } of patterns) {
    try {
      compilePattern(pattern);
    } catch {
      throw new InvalidDefinition(`field "${name}": pattern: params.pattern is not a valid RE2 pattern`);
    }
  }
}

function readEnum(params: Params, field: Field): Params {
  const { values } = params;
  if (!Array.isArray(values) || values.length === 0)
    throw new InvalidDefinition('params.values must be a list of values');
  if (values.length > MAX_ENUM) throw new InvalidDefinition(`params.values must contain at most ${MAX_ENUM} values`);
  return { values: values.map((value: Json) => readOperand(value, field, 'params.values')) };
}

function readBound(params: Params, field: Field): Params {
  if (!FIELD_TYPE_SPECS[field.field_type].ordered || FIELD_TYPE_SPECS[field.field_type].textual) {
    throw new InvalidDefinition(`not for field_type "${field.field_type}"`);
  }
  return { value: readOperand(params['value'] ?? null, field, 'params.value') };
}

function readLength(params: Params, field: Field): Params {
  requireText(field);
  const value = params['value'];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidDefinition('params.value must be an integer from 0');
  return { value };
}

function readPattern(params: Params, field: Field): Params {
  requireText(field);
  const { pattern } = params;
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN)
    throw new InvalidDefinition(`params.pattern must be a string of at most ${MAX_PATTERN} characters`);
  if (estimatedSize(pattern) > MAX_PATTERN_SIZE)
    throw new InvalidDefinition(
      `params.pattern must have at most ${MAX_PATTERN_SIZE} characters with its repetitions written out`,
    );
  return { pattern };
}

function readCompare(params: Params, field: Field): Params {
  const { op, field: other } = params;
  if (typeof op !== 'string' || !COMPARE_OPERATORS.includes(op))
    throw new InvalidDefinition(`params.op must be one of ${COMPARE_OPERATORS.join(', ')}`);
  if (typeof other !== 'string') throw new InvalidDefinition('params.field must be a string');
  if (!FIELD_TYPE_SPECS[field.field_type].ordered && op !== 'eq' && op !== 'ne')
    throw new InvalidDefinition(`params.op must be eq or ne for field_type "${field.field_type}"`);
  return { op, field: other };
}

/** A value that entry values are compared with, in stored form. */
function readOperand(value: Json, field: Field, name: string): Json {
  const read = readValue({ name: field.name, field_type: field.field_type, id: '' }, value);
  if (!read.ok) throw new InvalidDefinition(`${name} ${read.message}`);
  if (read.value === null) throw new InvalidDefinition(`${name} must not be null or empty`);
  return read.value;
}

function requireText(field: Field): void {
  if (!FIELD_TYPE_SPECS[field.field_type].textual)
    throw new InvalidDefinition(`not for field_type "${field.field_type}"`);
}

function present(params: { readonly [name: string]: Json | undefined }): Params {
  return Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, Json] => entry[1] !== undefined && !isRecord(entry[1])),
  );
}
