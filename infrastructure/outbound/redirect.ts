import type { OutboundRequest } from '../../application/ports/outbound.ts';

/** One request in a chain of redirects. */
export type Hop = {
  readonly url: string;
  readonly method: OutboundRequest['method'];
  readonly body: string | undefined;
};

/** A redirect is not allowed or not valid. The message may be shown to the owner of the URL. */
export class RedirectError extends Error {}

/** Redirects after which the request becomes a GET without a body. */
const CHANGED_TO_GET = new Set([301, 302, 303]);
/** Redirects after which the request is repeated with its method and body. */
const REPEATED = new Set([307, 308]);

export function isRedirect(status: number): boolean {
  return CHANGED_TO_GET.has(status) || REPEATED.has(status);
}

/**
 * The request after a redirect. The guard has not checked its URL yet.
 * @throws RedirectError from https to http, and for an invalid URL
 */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  if (!URL.canParse(location, hop.url)) throw new RedirectError('invalid redirect');
  const next = new URL(location, hop.url);
  if (next.protocol === 'http:' && new URL(hop.url).protocol === 'https:')
    throw new RedirectError('redirect from https to http');
  next.hash = '';
  if (REPEATED.has(status)) return { ...hop, url: next.href };
  return { url: next.href, method: hop.method === 'HEAD' ? 'HEAD' : 'GET', body: undefined };
}
