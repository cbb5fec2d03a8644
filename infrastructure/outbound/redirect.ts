import type { OutboundRequest } from '../../application/ports/outbound.ts';

/** One request of a chain of redirects. */
export type Hop = { readonly url: string; readonly method: OutboundRequest['method']; readonly body: string | undefined };

/** The endpoint's redirects broke a rule; the text is for the endpoint's owner. */
export class RedirectError extends Error {}

/** These make a GET without a body of any request; 307 and 308 repeat it (spec 4 C). */
const TO_GET = new Set([301, 302, 303]);
const REPEATED = new Set([307, 308]);

export function isRedirect(status: number): boolean {
  return TO_GET.has(status) || REPEATED.has(status);
}

/** The request that a redirect asks for; its address is still to be checked. @throws RedirectError from https to http, or for no URL */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  if (!URL.canParse(location, hop.url)) throw new RedirectError('invalid redirect');
  const next = new URL(location, hop.url);
  if (next.protocol === 'http:' && new URL(hop.url).protocol === 'https:') throw new RedirectError('redirect from https to http');
  next.hash = '';
  if (REPEATED.has(status)) return { ...hop, url: next.href };
  return { url: next.href, method: hop.method === 'HEAD' ? 'HEAD' : 'GET', body: undefined };
}
