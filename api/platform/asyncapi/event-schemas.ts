import { type TSchema, Type } from '@sinclair/typebox';
import type { DomainEvent } from '../../../domain/event.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { oneOf } from '../../http/schemas.ts';

/** Schemas of the data of all event types of an aggregate. A missing or wrong schema does not compile. */
export type EventSchemas<E extends DomainEvent> = {
  readonly [T in E['type']]: TSchema & { readonly static: Extract<E, { readonly type: T }>['data'] };
};

export const Nothing = Type.Unsafe<Record<string, never>>({ type: 'object', description: 'No data' });

const SEALED = { description: 'A sealed value: events contain personal data and secrets only in encrypted form' };
/** A value that the vault has sealed. */
export const SealedValue = Type.Object(
  { $sealed: Type.Literal(1), k: Type.String(), n: Type.String(), c: Type.String() },
  { title: 'SealedValue', ...SEALED },
);

export const AnyJson = Type.Unsafe<Json>({ description: 'Any JSON' });
export const AnyObject = Type.Unsafe<JsonObject>({ type: 'object' });
export const EventActor = Type.Object({
  kind: oneOf(['user', 'api_key', 'admin_token', 'system', 'anonymous']),
  id: Type.String(),
});
