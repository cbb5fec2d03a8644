import { asyncApiRoutes } from '../../api/platform/asyncapi-routes.ts';
import { docsRoutes } from '../../api/platform/docs/docs-routes.ts';
import { openApiRoutes } from '../../api/platform/openapi-routes.ts';
import type { ContentModule } from './compose-content.ts';
import type { IdentityModule } from './compose-identity.ts';
import { type Composition, EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { VERSION } from './version.ts';

export type DocumentationNeeds = Pick<Composition, 'servedRoutes'> &
  Pick<ContentModule, 'queries'> &
  Pick<IdentityModule, 'accessRules'>;

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
