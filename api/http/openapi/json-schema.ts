import type { TSchema } from '@sinclair/typebox';
import type { Json, JsonObject } from '../../../domain/json.ts';

/** A TypeBox schema as plain JSON, without its symbols. */
export function toJson(schema: TSchema): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(schema));
  return isObject(plain) ? plain : {};
}

/** The properties of an object schema. */
export function propertiesOf(
  schema: TSchema | undefined,
): readonly { readonly name: string; readonly required: boolean; readonly schema: JsonObject }[] {
  const { properties, required } = schema ? toJson(schema) : {};
  if (!isObject(properties)) return [];
  const needed: readonly Json[] = isList(required) ? required : [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: needed.includes(name),
    schema: isObject(property) ? property : {},
  }));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Keywords that contain values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** Applies `change` to every object in the schema, the innermost first. Values such as examples stay unchanged. */
export function mapSchema(value: Json, change: (object: JsonObject) => Json): Json {
  if (isList(value)) return value.map((item) => mapSchema(item, change));
  if (!isObject(value)) return value;
  return change(
    Object.fromEntries(
      Object.entries(value).map(([name, item]): [string, Json] => [
        name,
        VALUES.has(name) ? item : mapSchema(item, change),
      ]),
    ),
  );
}
