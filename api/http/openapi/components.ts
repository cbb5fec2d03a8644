import type { TSchema } from '@sinclair/typebox';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { exampleOf } from './example-of.ts';
import { isObject, mapSchema, toJson } from './json-schema.ts';

/** The components that the operations of a document share. They are collected while the operations are described. */
export type Components = {
  /** The schema, with every titled schema in it (and itself) replaced by a reference to a component of that title. */
  schema(schema: TSchema): JsonObject;
  /** A reference to a shared response, which `make` creates on first use. */
  response(name: string, make: () => JsonObject): JsonObject;
  /** An example for a schema that `schema` returned. */
  example(schema: JsonObject): Json | undefined;
  /** The members of `components`. */
  all(): { readonly schemas: JsonObject; readonly responses: JsonObject };
};

const SCHEMAS = '#/components/schemas/';

/** Creates the components of one document, starting with the given schemas. */
export function createComponents(initialSchemas: JsonObject = {}): Components {
  const schemas = new Map(Object.entries(initialSchemas));
  const responses = new Map<string, Json>();

  function lift(schema: JsonObject): JsonObject {
    const { title } = schema;
    if (typeof title !== 'string' || !/^[\w.-]+$/.test(title)) return schema;
    const earlier = schemas.get(title);
    // Another schema has this title: keep this one inline.
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(schema)) return schema;
    schemas.set(title, schema);
    return { $ref: SCHEMAS + title };
  }

  const resolve = (reference: string): JsonObject | undefined => {
    const found = schemas.get(reference.slice(SCHEMAS.length));
    return isObject(found) ? found : undefined;
  };

  function illustrated(schema: Json): Json {
    if (!isObject(schema) || schema['title'] === undefined || schema['examples'] !== undefined) return schema;
    const example = exampleOf(schema, resolve);
    return example === undefined ? schema : { ...schema, examples: [example] };
  }

  return {
    schema: (schema) => {
      const lifted = mapSchema(toJson(schema), lift);
      return isObject(lifted) ? lifted : {};
    },
    response: (name, make) => {
      if (!responses.has(name)) responses.set(name, make());
      return { $ref: `#/components/responses/${name}` };
    },
    example: (schema) => exampleOf(schema, resolve),
    all: () => ({
      schemas: Object.fromEntries([...schemas].toSorted(byName).map(([name, schema]) => [name, illustrated(schema)])),
      responses: Object.fromEntries([...responses].toSorted(byName)),
    }),
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
