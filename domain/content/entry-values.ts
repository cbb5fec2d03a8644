import type { FieldError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldValues } from './entry-events.ts';
import { type StoredField, storedFields } from './entry-fields.ts';
import { type FieldRules, compareFields, compileRules, createPatternBudget } from './entry-rules.ts';
import { entrySizeProblems } from './entry-size.ts';
import { readValue } from './entry-value.ts';
import { isManyToMany } from './field-types.ts';
import { sameJson } from './same-json.ts';

/** The validated values, and all errors. */
export type CheckedValues = { readonly values: FieldValues; readonly problems: readonly FieldError[] };

/**
 * Validates the `data` of a new entry. Absent fields get their default value; required fields must have a value. Fields
 * without a value are left out.
 */
export function checkNewValues(definition: ContentTypeDefinition, data: JsonObject): CheckedValues {
  const type = compile(definition);
  const input = readMembers(type, data);
  const values = new Map(input.values);
  const problems = [...input.problems];
  const refused = new Set(input.problems.map(({ field }) => field));
  for (const { field } of type.fields) {
    if (values.has(field.key) || refused.has(field.key)) continue;
    const fallback = field.definition.default ?? null;
    const read = readValue(field.definition, fallback);
    if (fallback !== null && read.ok) values.set(field.key, read.value);
    else if (field.definition.required === true) problems.push({ field: field.key, message: REQUIRED });
  }
  const present = Object.fromEntries([...values].filter(([, value]) => value !== null));
  if (problems.length === 0)
    problems.push(...entrySizeProblems({}, present), ...compareFields(type.comparisons, present, () => true));
  return { values: present, problems };
}

/**
 * Validates the `data` of an update. Absent fields get no default value. A rule between two fields is checked on the
 * stored values with the update applied, when the update names one of them.
 */
export function checkChangedValues(
  definition: ContentTypeDefinition,
  stored: FieldValues,
  data: JsonObject,
): CheckedValues {
  const type = compile(definition);
  const { values, problems } = readMembers(type, data);
  const changed: FieldValues = Object.fromEntries(values);
  if (problems.length > 0) return { values: changed, problems };
  return {
    values: changed,
    problems: [
      ...entrySizeProblems(stored, changed),
      ...compareFields(type.comparisons, { ...stored, ...changed }, (key) => values.has(key)),
    ],
  };
}

const REQUIRED = 'is required';

type CompiledType = {
  readonly fields: readonly { readonly field: StoredField; readonly rules: FieldRules }[];
  readonly byKey: ReadonlyMap<string, CompiledType['fields'][number]>;
  /** Names of the relations that are stored on the other side. */
  readonly onOtherSide: ReadonlySet<string>;
  readonly comparisons: FieldRules['comparisons'];
};

const cache = new WeakMap<ContentTypeDefinition, CompiledType>();

function compile(definition: ContentTypeDefinition): CompiledType {
  const cached = cache.get(definition);
  if (cached) return cached;
  const stored = storedFields(definition);
  const ruled = stored.map((field) => ({ field, rules: compileRules(field, stored) }));
  const byKey = new Map(ruled.map((field) => [field.field.key, field]));
  for (const field of ruled) if (!byKey.has(field.field.definition.name)) byKey.set(field.field.definition.name, field);
  const compiled: CompiledType = {
    fields: ruled,
    byKey,
    onOtherSide: new Set(definition.fields.map(({ name }) => name).filter((name) => !byKey.has(name))),
    comparisons: ruled.flatMap(({ rules }) => rules.comparisons),
  };
  cache.set(definition, compiled);
  return compiled;
}

/** Reads and checks each member of `data` on its own. */
function readMembers(
  type: CompiledType,
  data: JsonObject,
): { readonly values: ReadonlyMap<string, Json>; readonly problems: readonly FieldError[] } {
  const values = new Map<string, Json>();
  const problems: FieldError[] = [];
  const budget = createPatternBudget();
  for (const [name, value] of Object.entries(data)) {
    const compiledField = type.byKey.get(name);
    if (!compiledField) {
      problems.push({
        field: name.slice(0, 200),
        message: type.onOtherSide.has(name) ? 'is written on the other side' : 'unknown field',
      });
      continue;
    }
    const { key, definition } = compiledField.field;
    const read = readValue(definition, value);
    if (!read.ok) {
      problems.push({ field: key, message: read.message });
      continue;
    }
    if (values.has(key) && !sameJson(values.get(key) ?? null, read.value)) {
      problems.push({ field: key, message: 'is given twice' });
      continue;
    }
    const reason = isEmpty(definition, read.value)
      ? definition.required === true
        ? REQUIRED
        : undefined
      : (budget.consume(compiledField.rules, read.value) ?? firstRefusal(compiledField.rules.checks, read.value));
    if (reason !== undefined) problems.push({ field: key, message: reason });
    values.set(key, read.value);
  }
  return { values, problems };
}

/** Null, empty text and an empty list of ids. Empty text of an optional field is stored without checking its rules. */
function isEmpty(field: FieldDefinition, value: Json): boolean {
  return value === null || value === '' || (isManyToMany(field) && Array.isArray(value) && value.length === 0);
}

function firstRefusal(checks: FieldRules['checks'], value: Json): string | undefined {
  for (const check of checks) {
    const reason = check(value);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
