import { Type } from '@sinclair/typebox';
import { refusal } from '../../../domain/errors.ts';
import { isOneOf } from '../../http/entity-tags.ts';
import type { Answer, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import type { DocsFile } from './docs-files.ts';
import { docsFile, docsPage } from './docs-files.ts';

/** What the page may load and call: its own listener, nothing inline, nothing evaluated. Images are those in its style sheet. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** The reference page at `/docs` of both listeners. It is for anyone and tells nothing by itself: the documents ask for a credential. */
export function docsRoutes(): readonly Route[] {
  return (['admin', 'content'] as const).flatMap((api) => {
    const shared = { api, method: 'GET', tag: 'platform', access: { kind: 'public' }, answers: { 200: null, 304: null } } as const;
    return [
      route({
        ...shared,
        path: '/docs',
        operation: `${api}Docs`,
        summary: 'Reference of the API, for people',
        handler: async ({ header }) => sent(await docsPage(api), header('if-none-match')),
      }),
      route({
        ...shared,
        path: '/docs/{file}',
        operation: `${api}DocsFile`,
        summary: 'A file of the reference',
        params: Type.Object({ file: Type.String() }),
        notFound: 'endpoint_not_found',
        handler: async ({ params, header }) => {
          const file = docsFile(params.file);
          if (!file) throw refusal('endpoint_not_found');
          return sent(await file, header('if-none-match'));
        },
      }),
    ];
  });
}

function sent({ json: text, tag, type }: DocsFile, known: string | undefined): Answer {
  const headers = { ETag: tag, 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY };
  return isOneOf(known, tag) ? { status: 304, headers } : { status: 200, text, headers: { ...headers, 'Content-Type': type } };
}
