import { Type } from '@sinclair/typebox';
import { readableTypes } from '../../application/content/content-access.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { ContentTypeAnswer } from '../admin/content-types/schemas.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

const SHARED = { api: 'content', method: 'GET', tag: 'content', access: { kind: 'credential' }, reads: ['content'], feature: 'content' } as const;

export type ContentTypeReadDependencies = { readonly queries: Pick<ContentTypeQueries, 'list' | 'one'>; readonly accessRules: AccessRules };

/**
 * Content types on the Content API (spec 1, content API). A key's `schemas` list and the access rules narrow them, masked fields are left out; a type
 * closed to REST is not there.
 */
export function contentTypeReadRoutes({ queries, accessRules }: ContentTypeReadDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      path: '/api/v1/schemas',
      operation: 'listSchemas',
      summary: 'Content types with their fields',
      answers: { 200: Type.Array(ContentTypeAnswer) },
      handler: async ({ tenant, principal }) => {
        const types = (await queries.list(tenant)).filter(({ name, definition }) => isServed(definition) && isAllowed(principal, name));
        return { status: 200, body: readable(types, tenant, principal).map(presentContentType) };
      },
    }),
    route({
      ...SHARED,
      path: '/api/v1/schemas/{name}',
      operation: 'getSchema',
      summary: 'One content type',
      params: Type.Object({ name: Type.String() }),
      answers: { 200: ContentTypeAnswer },
      refusals: ['schema_not_found', 'schema_not_allowed', 'permission_denied'],
      handler: async ({ tenant, principal, params }) => {
        if (!isAllowed(principal, params.name)) throw refusal('schema_not_allowed');
        const type = await queries.one(tenant, params.name);
        if (!type || !isServed(type.definition)) throw refusal('schema_not_found');
        const [definition] = readable([type], tenant, principal);
        if (!definition) throw refusal('permission_denied');
        return { status: 200, body: presentContentType(definition) };
      },
    }),
  ];

  /** The definitions that the caller may read, without the fields hidden from them. */
  function readable(types: readonly ContentType[], tenant: string, principal: Principal | undefined): readonly ContentTypeDefinition[] {
    const found = readableTypes(types, { tenant, roles: principal?.roles ?? [] }, { accessRules });
    return found.map(({ type: { definition }, hidden }) => (hidden.size === 0 ? definition : { ...definition, fields: definition.fields.filter(({ name }) => !hidden.has(name)) }));
  }
}

function isServed({ transports }: ContentTypeDefinition): boolean {
  return transports?.rest !== 'off';
}

function isAllowed(principal: Principal | undefined, name: string): boolean {
  return principal?.kind !== 'api_key' || principal.schemas.length === 0 || principal.schemas.includes(name);
}
