import type { ErrorCode } from '../errors.ts';
import type { Principal } from './principal.ts';
import { hasAdminRole } from './roles.ts';

const CONTENT_PREFIX = '/api/v1/';

/**
 * Whether the scopes of a credential cover a request of the Content API. Credentials without a scope list (sessions)
 * and API keys with an admin role pass. An API key with an empty list is refused everywhere.
 * @param path The request path, with or without a query.
 */
export function scopeAllows(
  principal: Pick<Principal, 'roles'> & { readonly scopes?: readonly string[] },
  method: string,
  path: string,
): boolean {
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

/**
 * The first path segment after `/api/v1/`, in lower case. The OpenAPI document describes the content types, so it has
 * the resource `schemas`.
 */
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

function covers(part: string, requestPart: string): boolean {
  return part === '*' || part.toLowerCase() === requestPart;
}

/**
 * Checks an API key's scopes, then its list of content types, for a request of the Content API. Roles and access rules
 * are checked elsewhere.
 * @returns the refusal; undefined when the request may pass
 */
export function keyRefusal(
  key: Extract<Principal, { kind: 'api_key' }>,
  method: string,
  path: string,
): ErrorCode | undefined {
  if (!scopeAllows(key, method, path)) return 'insufficient_scope';
  if (key.schemas.length === 0) return undefined;
  const schema = schemaOf(path);
  return schema === undefined || key.schemas.includes(schema) ? undefined : 'schema_not_allowed';
}

/** Name of the content type in the path. */
function schemaOf(path: string): string | undefined {
  return /^\/api\/v1\/(?:content|schemas)\/([^/?#]+)/.exec(path)?.[1];
}
