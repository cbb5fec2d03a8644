import type { JsonObject } from '../../domain/json.ts';
import { createComponents } from './openapi/components.ts';
import { ERROR_SCHEMAS, errorExamples } from './openapi/errors.ts';
import { headerComponents } from './openapi/headers.ts';
import { operationOf } from './openapi/operation.ts';
import { prune } from './openapi/prune.ts';
import { SECURITY_SCHEMES } from './openapi/security.ts';
import type { Route } from './route.ts';

/** A path's operations, by method in lower case. */
export type PathItem = { readonly [method: string]: JsonObject };

/** An OpenAPI document. */
export type OpenApiDocument = JsonObject & {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: { readonly [kind: string]: JsonObject };
};

const DESCRIPTION = `Multi-tenant headless content service that keeps every change.

Every refusal carries \`error\`, a message for people, and \`code\`, for programs. Writes answer \`X-Commit-Position\`; a read with that value as \`X-Min-Position\` sees the write.

Whatever it asks for, a request may also be answered 400 \`bad_request\`, 403 \`address_refused\`, 405 \`method_not_allowed\` (with \`Allow\`), 408 \`request_timeout\`, 417 \`expectation_failed\`, 421 \`host_not_served\` and 431 \`headers_too_large\`.`;

/** What the rooms are about. */
const ROOMS: Readonly<Record<string, string>> = {
  automation: 'Webhooks, flows and what they sent', content: 'Entries, their past and their content types', identity: 'Sign-in, users, tenants, keys and access rules', media: 'Files and their variants',
  migration: 'Moving content in', monitoring: 'Alerts, errors and probes', platform: 'Features, license, settings, audit and health', traffic: 'Limits and addresses',
};

/** The OpenAPI 3.1 document of a table of routes (spec 5, rule 13). @throws Error when two paths share an operation's name */
export function openApiDocument(routes: readonly Route[], { title, version }: { readonly title: string; readonly version: string }): OpenApiDocument {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const operations = new Set<string>();
  const components = createComponents(ERROR_SCHEMAS);
  for (const route of routes) {
    // Probes answer alike on both listeners: one path, one operation.
    const item = (paths[route.path] ??= {});
    const method = route.method.toLowerCase();
    if (item[method]) continue;
    if (operations.has(route.operation)) throw new Error(`two routes are named ${route.operation}`);
    operations.add(route.operation);
    item[method] = operationOf(route, components);
  }
  return prune({
    openapi: '3.1.0',
    info: { title, version, description: DESCRIPTION, license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' } },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].toSorted().map((name) => ({ name, description: ROOMS[name] ?? `Routes of the room ${name}` })),
    paths,
    components: { ...components.all(), examples: errorExamples(), ...headerComponents(), securitySchemes: SECURITY_SCHEMES },
  });
}
