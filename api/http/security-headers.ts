import helmet from 'helmet';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Helmet's headers for an API that serves no pages, as name and value by turns: computed once, sent with every answer. */
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

/** `x-frame-options` as `X-Frame-Options`. */
function canonical(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_match, dash: string, letter: string) => dash + letter.toUpperCase());
}
