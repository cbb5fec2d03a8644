import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ownValue } from '../../../domain/own-value.ts';
import { type SentDocument, sentDocument } from '../sent-document.ts';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
} as const;

/** The files of the page by their name below `/docs/`. Those of Swagger UI come from its package. */
const FILES: Readonly<Record<string, { readonly type: string; readonly path: () => string | URL }>> = {
  'docs.css': { type: TYPES.css, path: () => asset('docs.css') },
  'docs.js': { type: TYPES.js, path: () => asset('docs.js') },
  'swagger-ui-bundle.js': { type: TYPES.js, path: () => packaged('swagger-ui-bundle.js') },
  'swagger-ui.css': { type: TYPES.css, path: () => packaged('swagger-ui.css') },
};

/** One file with its media type; `json` is its text. */
export type DocsFile = SentDocument & { readonly type: string };

const files = new Map<string, Promise<DocsFile>>();

/** The reference page of one API. */
export function docsPage(api: 'admin' | 'content'): Promise<DocsFile> {
  return once(`page:${api}`, async () => {
    const html = await readFile(asset('docs.html'), 'utf8');
    return {
      ...sentDocument(html.replace('<html lang="en">', `<html lang="en" data-api="${api}">`)),
      type: TYPES.html,
    };
  });
}

/** A file of the page; undefined for an unknown name. */
export function docsFile(name: string): Promise<DocsFile> | undefined {
  const file = ownValue(FILES, name);
  return (
    file &&
    once(name, async () => ({
      ...sentDocument(withoutSourceMap(await readFile(file.path(), 'utf8'))),
      type: file.type,
    }))
  );
}

/** Reads a file once; files do not change while the process runs. A failed read is repeated by the next call. */
function once(key: string, make: () => Promise<DocsFile>): Promise<DocsFile> {
  const cached = files.get(key);
  if (cached) return cached;
  const file = make();
  files.set(key, file);
  file.catch(() => files.delete(key));
  return file;
}

/** Removes the reference to a source map, because source maps are not served. */
function withoutSourceMap(text: string): string {
  return text.replace(/\n?(?:\/\/# |\/\*# )sourceMappingURL=\S+(?: \*\/)?\s*$/, '\n');
}

/** An asset in the folder beside this file; the build copies it beside the bundle. */
function asset(name: string): URL {
  return new URL(`./assets/${name}`, import.meta.url);
}

function packaged(name: string): string {
  return createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
}
