import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { DomainEvent } from '../../../domain/event.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';

/** A schema of the data of each event type: one that is missing, or allows what the type does not, does not compile. */
export type EventSchemas<E extends DomainEvent> = { readonly [T in E['type']]: TSchema & { readonly static: Extract<E, { readonly type: T }>['data'] } };

export const Id = Type.String({ format: 'uuid' });
export const Texts = Type.Array(Type.String());
export const Moment = Type.String({ format: 'date-time' });
export const Nothing = Type.Unsafe<Record<string, never>>({ type: 'object', description: 'Carries no data' });

const SEALED = { description: 'Sealed: personal data and secrets never stand in events in clear' };
/** What the vault seals. */
export const SealedValue = Type.Object({ $sealed: Type.Literal(1), k: Type.String(), n: Type.String(), c: Type.String() }, { title: 'SealedValue', ...SEALED });
/** The same where the domain does not know its inside. */
export const SealedJson = Type.Unsafe<JsonObject>(SealedValue);

export const AnyJson = Type.Unsafe<Json>({ description: 'Any JSON' });
export const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
export const Actor = Type.Object({ kind: oneOf(['user', 'api_key', 'admin_token', 'system', 'anonymous']), id: Type.String() });

export function oneOf<const T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values] });
}

export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}
