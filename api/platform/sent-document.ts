import { createHash } from 'node:crypto';
import QuickLRU from 'quick-lru';

/** A document as it is sent: text, and the entity tag that stands for it. */
export type SentDocument = { readonly json: string; readonly tag: string };

/** Documents differ by tenant and caller, and may be large. */
const KEPT = 16;

/** With its tag: the same for the same text, in every process. */
export function sentDocument(json: string): SentDocument {
  return { json, tag: `"${digestOf(json)}"` };
}

/** Keeps the documents that were asked for last; `key` may be long. */
export function documentCache(): (key: string, make: () => SentDocument) => SentDocument {
  const kept = new QuickLRU<string, SentDocument>({ maxSize: KEPT });
  return (key, make) => {
    const digest = digestOf(key);
    const known = kept.get(digest);
    if (known) return known;
    const made = make();
    kept.set(digest, made);
    return made;
  };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
