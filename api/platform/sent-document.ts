import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';

/** The text of a document with its entity tag. */
export type SentDocument = { readonly json: string; readonly tag: string };

/** Number of cached documents. They differ by tenant and caller, and may be large. */
const MAX_CACHED = 16;

/** Adds the entity tag. Equal texts have equal tags in every process. */
export function sentDocument(json: string): SentDocument {
  return { json, tag: `"${digestOf(json)}"` };
}

/** Caches the most recently used documents by a key of any length. */
export function documentCache(): (key: string, make: () => SentDocument) => SentDocument {
  const cache = new QuickLRU<string, SentDocument>({ maxSize: MAX_CACHED });
  return (key, make) => {
    const digest = digestOf(key);
    const cached = cache.get(digest);
    if (cached) return cached;
    const document = make();
    cache.set(digest, document);
    return document;
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
