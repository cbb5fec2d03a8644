import { type TSchema, Type } from '@sinclair/typebox';
import type { JsonObject } from '../../../domain/json.ts';
import type { FeatureSetting } from '../../../domain/platform/features.ts';
import { strict } from '../../http/schemas.ts';

type Declared = Readonly<Record<string, FeatureSetting>>;

/** The JSON Schema of a feature's settings, for consoles, with defaults and descriptions. Secrets are `writeOnly`. */
export function shownSchema(title: string, declared: Declared): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(declared).map(([key, { schema, description, fallback, variable, secret }]) => [
        key,
        {
          ...schema,
          description,
          ...(secret ? { writeOnly: true } : { default: fallback }),
          ...(variable !== undefined && { 'x-variable': variable }),
        },
      ]),
    ),
  };
}

/** The schema of a body that saves some of the settings; null restores the default. */
export function savedSchema(declared: Declared): TSchema {
  const properties = Object.fromEntries(
    Object.entries(declared).map(([key, { schema }]) => [
      key,
      Type.Optional(Type.Unsafe({ ...schema, nullable: true })),
    ]),
  );
  return Type.Object(properties, strict);
}
