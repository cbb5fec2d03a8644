import { randomBytes } from 'node:crypto';
import type { DocumentName } from '../../api/platform/openapi.ts';
import { openApiOf } from '../../api/platform/openapi.ts';
import type { OpenApiDocument } from '../../api/http/openapi.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { contentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { createIdentityQueries } from '../../projections/identity/queries.ts';
import type { Settings } from '../configuration/settings/index.ts';
import type { Database } from '../postgres/database.ts';
import { startService, VERSION } from './service.ts';
import { openStores } from './stores.ts';

type Asking = { readonly settings: Settings; readonly logger: Logger };

/** The content types of a tenant, from the read model. @throws Error when there is no such tenant */
export async function contentTypesOf({ settings, logger }: Asking, tenant: string): Promise<readonly ContentTypeDefinition[]> {
  const stores = await openStores({ settings, logger });
  try {
    return await definitionsOf(stores.database, tenant);
  } finally {
    await stores.close();
  }
}

/**
 * An OpenAPI document for programs without a session: with all content types of the tenant. The routes are those that a service with these settings declares, so one is put
 * together for a moment, on a free port of this machine; it does no work of the others and makes no key file.
 * @throws Error when there is no such tenant
 */
export async function describeApi({ settings, logger }: Asking, { name, tenant }: { readonly name: DocumentName; readonly tenant: string }): Promise<OpenApiDocument> {
  const types = await contentTypesOf({ settings, logger }, tenant);
  const secret = (): string => randomBytes(32).toString('hex');
  const service = await startService({
    logger,
    settings: {
      ...settings,
      roles: ['api'],
      adminListenAddress: '127.0.0.1:0', apiListenAddress: '127.0.0.1:0', tlsCertFile: undefined, tlsKeyFile: undefined,
      kafkaBrokers: undefined, licenseKey: undefined, licenseServerUrl: undefined,
      encryptionKey: settings.encryptionKey ?? secret(), setupToken: secret(), auditHmacKey: settings.auditHmacKey ?? secret(), jwtAlgorithm: 'HS256', jwtSecret: secret(),
    },
  });
  try {
    return openApiOf(name, { routes: service.routes, version: VERSION, types });
  } finally {
    await service.stop();
  }
}

async function definitionsOf(database: Database, tenant: string): Promise<readonly ContentTypeDefinition[]> {
  if (!(await createIdentityQueries(database).tenant(tenant))) throw new Error(`there is no tenant ${tenant}`);
  return (await contentTypeQueries(database).list(tenant)).map(({ definition }) => definition);
}
