import type { ErrorCode } from '../errors.ts';
import type { Principal } from './principal.ts';
import { hasAdminRole } from './roles.ts';

const CONTENT_PREFIX = '/api/v1/';

/**
 * Whether the credential's scopes cover a request of the Content API (spec 1, API key checks). Sessions have no scopes; keys with the
 * admin or super_admin role skip the check; a key without scopes is refused everywhere. `path` may carry a query.
 */
export function scopeAllows(principal: Pick<Principal, 'roles'> & { readonly scopes?: readonly string[] }, method: string, path: string): boolean {
  if (principal.scopes === undefined || hasAdminRole(principal.roles)) return true;
  const resource = resourceOf(path);
  if (resource === undefined) return false;
  const action = actionOf(method);
  for (const scope of principal.scopes) {
    const colon = scope.indexOf(':');
    if (covers(scope.slice(0, colon), resource) && covers(scope.slice(colon + 1), action)) return true;
  }
  return false;
}

/** First segment after `/api/v1/`, lower-case. The OpenAPI document tells what `schemas` tells, and opens with the same scope. */
function resourceOf(path: string): string | undefined {
  if (!path.startsWith(CONTENT_PREFIX)) return undefined;
  const segment = /^[^/?#]*/.exec(path.slice(CONTENT_PREFIX.length))?.[0];
  if (segment === 'openapi.json') return 'schemas';
  return segment === undefined || segment === '' ? undefined : segment.toLowerCase();
}

function actionOf(method: string): 'read' | 'write' | 'delete' {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
      return 'read';
    case 'DELETE':
      return 'delete';
    default:
      return 'write';
  }
}

function covers(part: string, wanted: string): boolean {
  return part === '*' || part.toLowerCase() === wanted;
}

/**
 * Why an API key may not make a request of the Content API, before roles and access rules are asked: scope first, then the key's list of
 * content types (spec 1, API key checks; spec 4 A, content details). @returns undefined when nothing stands in the way.
 */
export function keyRefusal(key: Extract<Principal, { kind: 'api_key' }>, method: string, path: string): ErrorCode | undefined {
  if (!scopeAllows(key, method, path)) return 'insufficient_scope';
  if (key.schemas.length === 0) return undefined;
  const schema = schemaOf(path);
  return schema === undefined || key.schemas.includes(schema) ? undefined : 'schema_not_allowed';
}

/** Content type that the path names. */
function schemaOf(path: string): string | undefined {
  return /^\/api\/v1\/(?:content|schemas)\/([^/?#]+)/.exec(path)?.[1];
}
