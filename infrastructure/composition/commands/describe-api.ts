import { randomBytes } from 'node:crypto';
import type { OpenApiDocument } from '../../../api/http/openapi.ts';
import { type DocumentName, openApiOf } from '../../../api/platform/openapi-routes.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { ContentTypeDefinition } from '../../../domain/content/definition.ts';
import { createContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { createIdentityQueries } from '../../../projections/identity/queries.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import type { Database } from '../../postgres/database.ts';
import { openStores } from '../platform/open-stores.ts';
import { startService } from '../start-service.ts';
import { VERSION } from '../version.ts';

/** The settings and the logger of a command. */
type CommandEnvironment = { readonly settings: Settings; readonly logger: Logger };

/** The content types of a tenant, from the read model. @throws Error when the tenant does not exist */
export async function contentTypesOf(
  tenant: string,
  { settings, logger }: CommandEnvironment,
): Promise<readonly ContentTypeDefinition[]> {
  const stores = await openStores({ settings, logger });
  try {
    return await definitionsOf(stores.database, tenant);
  } finally {
    await stores.close();
  }
}

/**
 * An OpenAPI document with all content types of the tenant. Starts a service with these settings for a moment to learn
 * its routes: on free ports of loopback, with the role `api` only, and with random secrets, so that it does no
 * background work and creates no key file.
 * @throws Error when the tenant does not exist
 */
export async function describeApi(
  { name, tenant }: { readonly name: DocumentName; readonly tenant: string },
  { settings, logger }: CommandEnvironment,
): Promise<OpenApiDocument> {
  const types = await contentTypesOf(tenant, { settings, logger });
  const secret = (): string => randomBytes(32).toString('hex');
  const service = await startService({
    logger,
    settings: {
      ...settings,
      roles: ['api'],
      adminListenAddress: '127.0.0.1:0',
      apiListenAddress: '127.0.0.1:0',
      tlsCertFile: undefined,
      tlsKeyFile: undefined,
      kafkaBrokers: undefined,
      licenseKey: undefined,
      licenseServerUrl: undefined,
      encryptionKey: settings.encryptionKey ?? secret(),
      setupToken: secret(),
      auditHmacKey: settings.auditHmacKey ?? secret(),
      jwtAlgorithm: 'HS256',
      jwtSecret: secret(),
    },
  });
  try {
    return openApiOf(name, { routes: service.routes, version: VERSION, types });
  } finally {
    await service.stop();
  }
}

async function definitionsOf(database: Database, tenant: string): Promise<readonly ContentTypeDefinition[]> {
  if (!(await createIdentityQueries({ database }).tenant(tenant))) throw new Error(`there is no tenant ${tenant}`);
  return (await createContentTypeQueries({ database }).list(tenant)).map(({ definition }) => definition);
}
