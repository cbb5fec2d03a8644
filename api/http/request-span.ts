import type { Span, Tracing } from '../../application/ports/tracing.ts';
import type { Exchange } from './exchange.ts';
import { PROBES } from './probes.ts';

/** Starts the span of a request, as a child of the caller's `traceparent` if it sent one. Probes have no span. */
export function startRequestSpan(
  { request, path, header }: Exchange,
  { tracing }: { readonly tracing: Tracing },
): Span | undefined {
  if (PROBES.has(path)) return undefined;
  return tracing.start(request.method ?? 'GET', { kind: 'server', parent: header('traceparent') });
}

/**
 * Ends the span of a request. It names the declared route and the tenant's slug, but no path, address or credential.
 */
export function endRequestSpan(
  span: Span,
  { request, compiled, tenant, requestId, correlationId, principal }: Exchange,
  status: number,
): void {
  const method = request.method ?? 'GET';
  const route = compiled?.route.path;
  if (route !== undefined) span.rename(`${method} ${route}`);
  span.set({
    'http.request.method': method,
    'http.response.status_code': status,
    ...(route === undefined ? {} : { 'http.route': route }),
    ...(principal ? { 'palimpsest.credential': principal.kind } : {}),
    'palimpsest.tenant': tenant,
    'palimpsest.request_id': requestId,
    'palimpsest.correlation_id': correlationId,
  });
  span.end(status >= 500 ? String(status) : undefined);
}
