import type { Route } from '../../api/http/route.ts';
import { asyncApiRoutes } from '../../api/platform/asyncapi-routes.ts';
import { docsRoutes } from '../../api/platform/docs/docs-routes.ts';
import { openApiRoutes } from '../../api/platform/openapi-routes.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { VERSION } from './version.ts';

export type DocumentationNeeds = {
  /** Every route that this process serves; known once all modules are composed. */
  readonly servedRoutes: () => readonly Route[];
  readonly queries: ContentTypeQueries;
  readonly accessRules: AccessRules;
};

/** The OpenAPI and AsyncAPI documents, and the pages that show them. */
export function composeDocumentation(
  { settings }: Platform,
  { servedRoutes, queries, accessRules }: DocumentationNeeds,
): Module {
  return {
    ...EMPTY_MODULE,
    routes: [
      ...openApiRoutes({ routes: servedRoutes, version: VERSION, queries, accessRules }),
      ...asyncApiRoutes({ version: VERSION, prefix: settings.kafkaTopicPrefix, brokers: settings.kafkaBrokers ?? [] }),
      ...docsRoutes(),
    ],
  };
}
