import { type ErrorCode, type FieldError, refusal } from '../errors.ts';
import type { ApiKeySettings } from './api-key.ts';
import { exceedsMaximumLifetime } from './expiry.ts';
import { ROLE_NAME_PROBLEM } from './principal.ts';
import { areRoleNames, hasAdminRole, mayGrant } from './roles.ts';

const MAX_NAME_LENGTH = 200;
const SCOPE = /^(\*|[a-z0-9_.-]{1,64}):(\*|[a-z0-9_.-]{1,64})$/i;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/i;

/**
 * Checks a request for a new API key. The caller's rights are checked before the values.
 * @param creator The caller, who may grant only the roles that they hold.
 * @throws `cannot_grant_roles`, `validation_failed`, `api_key_needs_expiry`, `api_key_expires_late`
 */
export function checkNewApiKey(key: ApiKeySettings, creator: { readonly roles: readonly string[] }, now: Date): void {
  if (!mayGrant(creator, key.roles)) throw refusal('cannot_grant_roles');
  const fields: FieldError[] = [];
  if (key.name.length > MAX_NAME_LENGTH)
    fields.push({ field: 'name', message: `must have at most ${MAX_NAME_LENGTH} characters` });
  if (!key.scopes.every((scope) => SCOPE.test(scope)))
    fields.push({ field: 'scopes', message: 'must have the form <resource>:<action>' });
  if (!areRoleNames(key.roles)) fields.push({ field: 'roles', message: ROLE_NAME_PROBLEM });
  if (!key.schemas.every((schema) => SCHEMA_NAME.test(schema)))
    fields.push({ field: 'schemas', message: 'must be names of content types' });
  if (!Number.isSafeInteger(key.monthlyLimit) || key.monthlyLimit < 0)
    fields.push({ field: 'monthly_limit', message: 'must be an integer of at least 0' });
  if (key.expiresAt && key.expiresAt <= now) fields.push({ field: 'expires_at', message: 'must be in the future' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  const expiry = expiryRefusal(key, now);
  if (expiry) throw refusal(expiry);
}

function expiryRefusal({ roles, expiresAt }: ApiKeySettings, now: Date): ErrorCode | undefined {
  if (!hasAdminRole(roles)) return undefined;
  if (!expiresAt) return 'api_key_needs_expiry';
  return exceedsMaximumLifetime(expiresAt, now) ? 'api_key_expires_late' : undefined;
}
