import type { Json, JsonObject } from '../../../domain/json.ts';
import { ownValue } from '../../../domain/own-value.ts';
import { isList, isObject } from './json-schema.ts';

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-11-20',
  'date-time': '2026-11-20T12:00:00.000Z',
  email: 'ada@example.org',
  'idn-email': 'ada@example.org',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  uri: 'https://example.org/',
  'uri-reference': '/',
  uuid: '019abc00-0000-7000-8000-000000000001',
  time: '12:00:00Z',
  duration: 'PT1H',
};
/** Candidates for a text that must match a pattern, tried in order. */
const TEXTS = [
  'text',
  'a',
  '12:00',
  '1.5',
  '1',
  '00000000000000000042',
  'a@example.org',
  'default',
  '2026-11-20',
  '#336699',
];

/** Resolves a `$ref`; undefined when it is unknown. */
type Resolve = (reference: string) => JsonObject | undefined;

/**
 * A value that the schema accepts: the schema's own example if it has one, else a simple value. Optional members are
 * included when an example for them is found.
 * @returns undefined when no example is found, for instance for an unusual pattern
 */
export function exampleOf(schema: JsonObject, resolve: Resolve = () => undefined, depth = 0): Json | undefined {
  const { examples, default: preset, const: only, enum: choices, $ref, anyOf, oneOf, allOf, type } = schema;
  if (isList(examples) && examples[0] !== undefined) return examples[0];
  if (only !== undefined) return only;
  if (preset !== undefined) return preset;
  if (isList(choices)) return choices[0];
  if (depth > 8) return undefined;
  const below = (inner: Json | undefined): Json | undefined =>
    isObject(inner) ? exampleOf(inner, resolve, depth + 1) : undefined;
  if (typeof $ref === 'string') return below(resolve($ref));
  const options = isList(anyOf) ? anyOf : isList(oneOf) ? oneOf : undefined;
  if (options) return firstFound(options, below);
  if (isList(allOf)) return merged(allOf.map(below));
  switch (isList(type) ? type.find((one) => one !== 'null') : type) {
    case 'object':
      return objectOf(schema, below);
    case 'array':
      return listOf(schema, below);
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return isObject(schema['properties']) ? objectOf(schema, below) : {};
  }
}

function firstFound(options: readonly Json[], below: (inner: Json) => Json | undefined): Json | undefined {
  for (const option of options) {
    const found = below(option);
    if (found !== undefined) return found;
  }
  return undefined;
}

function merged(parts: readonly (Json | undefined)[]): Json | undefined {
  if (!parts.every((part) => isObject(part))) return undefined;
  return Object.assign({}, ...parts) as JsonObject;
}

function objectOf({ properties, required }: JsonObject, below: (inner: Json) => Json | undefined): Json | undefined {
  const members: [string, Json][] = [];
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const value = below(property);
    if (value !== undefined) members.push([name, value]);
    else if (isList(required) && required.includes(name)) return undefined;
  }
  return Object.fromEntries(members);
}

function listOf(
  { items, minItems }: JsonObject,
  below: (inner: Json | undefined) => Json | undefined,
): Json | undefined {
  const item = below(items);
  if (item === undefined) return minItems === undefined || minItems === 0 ? [] : undefined;
  return Array.from({ length: Math.max(1, typeof minItems === 'number' ? minItems : 1) }, () => item);
}

function textOf({ format, pattern, minLength = 0, maxLength }: JsonObject): string | undefined {
  const example = typeof format === 'string' ? ownValue(FORMATS, format) : undefined;
  if (example !== undefined) return example;
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  const matches = (text: string): boolean => typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text);
  return [...TEXTS, 'x'.repeat(Math.min(least, 1000))].find(
    (text) => text.length >= least && text.length <= most && matches(text),
  );
}

function numberOf({ minimum, maximum, exclusiveMinimum }: JsonObject): number {
  const least = typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1;
  const most = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(Math.max(1, least), most);
}
