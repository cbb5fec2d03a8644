import { type SchemaOptions, type TSchema, Type } from '@sinclair/typebox';

/** Small schemas that many routes and events share. */

/** Option of an object schema: members that it does not name are refused. */
export const strict = { additionalProperties: false };

/** A value of the schema, or null. */
export function nullable<T extends TSchema>(schema: T, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** One of these texts. */
export function oneOf<const T extends string>(values: readonly T[], options: SchemaOptions = {}) {
  return Type.Unsafe<T>({ ...options, type: 'string', enum: [...values] });
}

export const Id = Type.String({ format: 'uuid' });
/** Path parameters of a route of one object. An id that is not a UUID gets the route's `notFound`. */
export const IdParams = Type.Object({ id: Id });
/** RFC 3339. */
export const Timestamp = Type.String({ format: 'date-time' });
export const NullableTimestamp = nullable(Timestamp);
export const NullableText = nullable(Type.String());
export const Texts = Type.Array(Type.String());
/** Who did something: the kind and the id of the credential. */
export const Actor = Type.Object({ kind: Type.String(), id: Type.String() });
/** An object with any members. */
export const AnyMembers = Type.Object({}, { additionalProperties: true });
