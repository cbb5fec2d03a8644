import { Type } from '@sinclair/typebox';
import type { ApiKeyRecord } from '../../../application/ports/identity-reads.ts';
import { type FieldError, refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { Id, NullableTimestamp, Texts, Timestamp, strict } from '../../http/schemas.ts';

const Names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 200 });
const Limit = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Requests per UTC calendar month; 0 means no limit',
});
/** Body that creates a key. */
export const NewKeyBody = Type.Object(
  {
    name: Type.String({ pattern: '\\S' }),
    scopes: Type.Optional(Names),
    roles: Type.Optional(Names),
    schemas: Type.Optional(Names),
    expires_at: Type.Optional(NullableTimestamp),
    monthly_limit: Type.Optional(Limit),
  },
  strict,
);

/** Body of a rotation: how long the old secret stays valid, in seconds. */
export const RotateBody = Type.Object(
  { grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800, default: 0 })) },
  strict,
);

export const MonthlyLimitBody = Type.Object({ monthly_limit: Limit }, strict);

const keyFields = {
  id: Id,
  name: Type.String(),
  prefix: Type.String({ description: 'The first 8 characters of the key after svc_' }),
  scopes: Texts,
  roles: Texts,
  schemas: Texts,
  tenant_id: Type.String(),
  enabled: Type.Boolean(),
  expires_at: NullableTimestamp,
  monthly_limit: Limit,
  created_at: Timestamp,
};
export const ApiKey = Type.Object(keyFields);
export const ApiKeyWithSecret = Type.Object({ ...keyFields, raw_key: Type.String() });

export const AuditEntry = Type.Object({
  id: Id,
  api_key_id: Id,
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  ip: Type.String(),
  ts: Timestamp,
});

export const Usage = Type.Object({
  billing_period: Type.String({ description: 'A UTC calendar month, such as 2026-11' }),
  requests: Type.Integer(),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
});

/** The refusal of an invalid new key: `api_key_name_required` for a missing name or a body that is not an object. */
export function newKeyRefusal(problems: readonly FieldError[]): Error {
  if (problems.some(({ field }) => field === 'name' || field === '')) return refusal('api_key_name_required');
  return refusal('validation_failed', { fields: problems });
}

/** Presents a key in a response, without its secret. */
export function presentApiKey(key: ApiKeyRecord): JsonObject {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    roles: key.roles,
    schemas: key.schemas,
    tenant_id: key.tenant,
    enabled: key.enabled,
    expires_at: key.expiresAt?.toISOString() ?? null,
    monthly_limit: key.monthlyLimit,
    created_at: key.createdAt.toISOString(),
  };
}
