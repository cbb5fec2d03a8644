import { Type } from '@sinclair/typebox';
import { refusal } from '../../../domain/errors.ts';
import { matchesTag } from '../../http/entity-tags.ts';
import { type Route, type RouteResponse, route } from '../../http/route.ts';
import { type DocsFile, docsFile, docsPage } from './docs-files.ts';

const SHARED = {
  method: 'GET',
  tag: 'platform',
  access: { kind: 'public' },
  responses: { 200: null, 304: null },
} as const;

/**
 * The page may load and call its own listener only, without inline code or `eval`. Images come from its style sheet.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/**
 * The reference page at `/docs` of both listeners. The page is public; the documents that it loads need a credential.
 */
export function docsRoutes(): readonly Route[] {
  return (['admin', 'content'] as const).flatMap((api) => [
    route({
      ...SHARED,
      api,
      path: '/docs',
      operation: `${api}Docs`,
      summary: 'Get the API reference page',
      handler: async ({ header }) => fileResponse(await docsPage(api), header('if-none-match')),
    }),
    route({
      ...SHARED,
      api,
      path: '/docs/{file}',
      operation: `${api}DocsFile`,
      summary: 'Get a file of the API reference page',
      params: Type.Object({ file: Type.String() }),
      notFound: 'endpoint_not_found',
      handler: async ({ params, header }) => {
        const file = docsFile(params.file);
        if (!file) throw refusal('endpoint_not_found');
        return fileResponse(await file, header('if-none-match'));
      },
    }),
  ]);
}

function fileResponse({ json: text, tag, type }: DocsFile, ifNoneMatch: string | undefined): RouteResponse {
  const headers = { ETag: tag, 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY };
  return matchesTag(ifNoneMatch, tag)
    ? { status: 304, headers }
    : { status: 200, text, headers: { ...headers, 'Content-Type': type } };
}
