import helmet from 'helmet';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/**
 * Helmet's headers for an API that serves no pages, as a flat list of alternating names and values. They are computed
 * once and sent with every response. `secure` is the setting `SECURE_COOKIE`: it adds HSTS.
 */
export function securityHeaders({ secure }: { readonly secure: boolean }): readonly string[] {
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: true } : false,
  });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  set(request, response, () => undefined);
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [canonical(name), String(value)]);
}

/** Capitalises a header name: `X-Frame-Options` for `x-frame-options`. */
function canonical(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_match, dash: string, letter: string) => dash + letter.toUpperCase());
}
