import type { JsonObject } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { createComponents } from './openapi/components.ts';
import { ERROR_SCHEMAS, errorExamples } from './openapi/errors.ts';
import { headerComponents } from './openapi/headers.ts';
import { operationOf } from './openapi/operation.ts';
import { prune } from './openapi/prune.ts';
import { SECURITY_SCHEMES } from './openapi/security.ts';
import type { Route } from './route.ts';

/** The operations of a path, by method in lower case. */
export type PathItem = { readonly [method: string]: JsonObject };

/** An OpenAPI document. */
export type OpenApiDocument = JsonObject & {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: { readonly [kind: string]: JsonObject };
};

const DESCRIPTION = [
  'A multi-tenant headless content service that keeps every change.',
  'Every error response has `error`, a message for people, and `code`, for programs; ' +
    'in a 402 response `error` is the code. ' +
    'Writes answer `X-Commit-Position`; a read that sends this value as `X-Min-Position` sees the write.',
  'Every request may also be answered 400 `bad_request`, 403 `address_refused`, ' +
    '405 `method_not_allowed` (with `Allow`), 408 `request_timeout`, 417 `expectation_failed`, ' +
    '421 `host_not_served` and 431 `headers_too_large`.',
].join('\n\n');

/** Descriptions of the tags. */
const TAGS: Readonly<Record<string, string>> = {
  automation: 'Webhooks, flows and their deliveries',
  content: 'Entries, their history and content types',
  identity: 'Sign-in, users, tenants, API keys and access rules',
  media: 'Files and their variants',
  migration: 'Import of content',
  monitoring: 'Alerts, errors and probes',
  platform: 'Features, license, settings, audit and health',
  traffic: 'Rate limits and client addresses',
};

/** The OpenAPI 3.1 document of a list of routes. @throws Error when two paths have the same operation id */
export function openApiDocument(
  routes: readonly Route[],
  { title, version }: { readonly title: string; readonly version: string },
): OpenApiDocument {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const operations = new Set<string>();
  const components = createComponents(ERROR_SCHEMAS);
  for (const route of routes) {
    // The probes are declared for both listeners under one path: describe them once.
    const item = ownValue(paths, route.path) ?? {};
    paths[route.path] = item;
    const method = route.method.toLowerCase();
    if (ownValue(item, method)) continue;
    if (operations.has(route.operation)) throw new Error(`two routes are named ${route.operation}`);
    operations.add(route.operation);
    item[method] = operationOf(route, components);
  }
  return prune({
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: DESCRIPTION,
      license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))]
      .toSorted()
      .map((name) => ({ name, description: ownValue(TAGS, name) ?? `Routes of the module ${name}` })),
    paths,
    components: {
      ...components.all(),
      examples: errorExamples(),
      ...headerComponents(),
      securitySchemes: SECURITY_SCHEMES,
    },
  });
}
