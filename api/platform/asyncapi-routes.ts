import { Type } from '@sinclair/typebox';
import { matchesTag } from '../http/entity-tags.ts';
import { type Route, route } from '../http/route.ts';
import { type AsyncApiOptions, asyncApiDocument } from './asyncapi/document.ts';
import { type SentDocument, sentDocument } from './sent-document.ts';

export type AsyncApiRouteDependencies = AsyncApiOptions;

/** The AsyncAPI document. It is created on the first request. */
export function asyncApiRoutes(dependencies: AsyncApiRouteDependencies): readonly Route[] {
  let created: SentDocument | undefined;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/asyncapi.json',
      operation: 'asyncApi',
      summary: 'Get the AsyncAPI document of all topics and their messages',
      tag: 'platform',
      access: { kind: 'credential', roles: ['super_admin'] },
      responses: {
        200: Type.Object({}, { additionalProperties: true, description: 'An AsyncAPI document' }),
        304: null,
      },
      handler: ({ header }) => {
        const { json, tag } = (created ??= sentDocument(JSON.stringify(asyncApiDocument(dependencies))));
        const headers = { ETag: tag, 'Cache-Control': 'private, no-cache' };
        return Promise.resolve(
          matchesTag(header('if-none-match'), tag) ? { status: 304, headers } : { status: 200, json, headers },
        );
      },
    }),
  ];
}
