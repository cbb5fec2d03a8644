import { Type } from '@sinclair/typebox';
import { isOneOf } from '../http/entity-tags.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { AsyncApiOptions } from './asyncapi/document.ts';
import { asyncApiDocument } from './asyncapi/document.ts';
import type { SentDocument } from './sent-document.ts';
import { sentDocument } from './sent-document.ts';

/** The AsyncAPI document (spec 4 D). */
export function asyncApiRoute(options: AsyncApiOptions): Route {
  let made: SentDocument | undefined;
  return route({
    api: 'admin',
    method: 'GET',
    path: '/api/admin/asyncapi.json',
    operation: 'asyncApi',
    summary: 'AsyncAPI document: every topic with its messages',
    tag: 'platform',
    access: { kind: 'credential', roles: ['super_admin'] },
    answers: { 200: Type.Object({}, { additionalProperties: true, description: 'An AsyncAPI document' }), 304: null },
    handler: ({ header }) => {
      const { json, tag } = (made ??= sentDocument(JSON.stringify(asyncApiDocument(options))));
      const headers = { ETag: tag, 'Cache-Control': 'private, no-cache' };
      return Promise.resolve(isOneOf(header('if-none-match'), tag) ? { status: 304, headers } : { status: 200, json, headers });
    },
  });
}
