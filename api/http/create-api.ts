import express from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAppError, refusal } from '../../domain/errors.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import { recordedCredential } from './admit.ts';
import { createClientAddress } from './client-address.ts';
import { compileRoute } from './compile-route.ts';
import { createCors } from './cors.ts';
import { errorResponse } from './error-response.ts';
import { Exchange } from './exchange.ts';
import { createHostAndIpFilter } from './host-and-ip-filter.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { App } from './listener.ts';
import type { FailureCause } from './outage-watch.ts';
import { PROBES } from './probes.ts';
import { endRequestSpan, startRequestSpan } from './request-span.ts';
import { type Serving, respond } from './respond.ts';
import { buildRouteTable } from './route-table.ts';
import type { Route, RouteResponse } from './route.ts';
import { securityHeaders } from './security-headers.ts';
import { sendResponse } from './send-response.ts';
import { sendStream } from './send-stream.ts';
import { createUnsentBytes } from './unsent-bytes.ts';

export type CreateApiOptions = {
  readonly api: 'admin' | 'content';
  /** The whole table; only the routes of `api` are served. */
  readonly routes: readonly Route[];
  readonly dependencies: HttpDependencies;
};

/**
 * Express's router, called with plain Node requests. The router needs no more than these, although its types ask for
 * Express's. `handle` is a method, because TypeScript compares the parameters of methods loosely.
 */
type PlainRouter = {
  handle(request: IncomingMessage, response: ServerResponse, done: (error?: unknown) => void): void;
};

/**
 * Creates the request handler of one listener from the route declarations. One handler on Express's router serves all
 * routes. It finds a route in a tree of path segments, so that the cost of a request does not grow with the number of
 * routes. The router runs without an Express application: the application replaces the prototypes of every request,
 * which takes longer than the rest of this layer (90 µs against 25 µs a request). Queries are therefore parsed by
 * `parseQuery`, never by `request.query`.
 * @throws Error when two routes have the same method and path, or a schema does not compile
 */
export function createApi({ api, routes, dependencies }: CreateApiOptions): App {
  const { options } = dependencies;
  const serving: Serving = {
    api,
    table: buildRouteTable(
      routes
        .filter((route) => route.api === api)
        .map((route) => ({ method: route.method, path: route.path, target: compileRoute(route) })),
    ),
    cors: createCors({
      policy: options.cors,
      isTenantDomain: (host) => typeof dependencies.tenantOfHost(host) === 'string',
    }),
    hostAndIpFilter: options.hostAndIpFilter && createHostAndIpFilter(options.hostAndIpFilter),
    cookieName: sessionCookieName(options.secure),
    unsent: dependencies.unsent ?? createUnsentBytes(),
    dependencies,
  };
  const constant = ['Vary', 'Origin', ...securityHeaders(options)];
  const clientAddress = createClientAddress(options);

  const router = express.Router();
  /** Aborted when the listener that serves this API begins to close. */
  let stopping: AbortSignal | undefined;
  router.use((request, response) => {
    void serve(request, response);
  });
  const plain: PlainRouter = { handle: router };
  return (request, response, closing) => {
    stopping = closing;
    plain.handle(request, response, () => {
      response.destroy();
    });
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(
      request,
      response,
      clientAddress({
        peer: request.socket.remoteAddress,
        forwarded: forwardedFor(request),
        fromConsole: isConsole(request, options.consoleKeys),
      }),
      dependencies,
    );
    const { tracing } = dependencies;
    if (tracing) exchange.span = startRequestSpan(exchange, { tracing });
    let routeResponse: RouteResponse;
    try {
      routeResponse = await respondInTime(exchange);
    } catch (error) {
      routeResponse = refused(error, exchange);
    }
    let sent;
    const { stream } = routeResponse;
    try {
      sent = sendResponse(exchange, routeResponse, constant, serving);
    } catch (error) {
      routeResponse = refused(error, exchange);
      if (response.headersSent) response.destroy();
      else sent = sendResponse(exchange, routeResponse, constant, serving);
    }
    if (stream) {
      sent = await sendStream(
        exchange,
        { ...routeResponse, stream },
        {
          stopping,
          onError: (error) => {
            refused(error, exchange);
          },
        },
      );
    }
    finished(exchange, routeResponse, sent ?? 0);
  }

  /** Responds, or refuses when the request waits for a database that does not answer. */
  function respondInTime(exchange: Exchange): Promise<RouteResponse> {
    const { outages, withinLimits } = dependencies;
    const kind = exchange.request.method === 'GET' || exchange.request.method === 'HEAD' ? 'read' : 'write';
    const work = (): Promise<RouteResponse> =>
      withinLimits ? withinLimits(kind, () => respond(exchange, serving)) : respond(exchange, serving);
    if (!outages) return work();
    // A write that has begun may still take effect.
    const refuse = (cause: FailureCause) => {
      if (exchange.isHandling && exchange.compiled?.unsafe) return refusal('outcome_unknown');
      return refusal(cause === 'fault' ? 'internal' : 'unavailable');
    };
    return outages.run(work, refuse);
  }

  function refused(error: unknown, exchange: Exchange): RouteResponse {
    const routeResponse = errorResponse(error);
    // Probes are logged only when their result changes, by `healthRoutes`.
    if (routeResponse.status >= 500 && !PROBES.has(exchange.path)) {
      const { requestId, correlationId, compiled } = exchange;
      const detail = { request_id: requestId, correlation_id: correlationId, route: compiled?.route.path, error };
      if (isAppError(error)) dependencies.logger.warn('a request failed', detail);
      else dependencies.logger.error('a request failed', detail);
    }
    return routeResponse;
  }

  /**
   * Logs successful reads at `debug`, because a line per read would halve the throughput; writes and refusals at
   * `info`.
   */
  function finished(exchange: Exchange, { status }: RouteResponse, bytesOut: number): void {
    const { request, compiled, principal, refusedKey, requestId, correlationId } = exchange;
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    const method = request.method ?? 'GET';
    const route = compiled?.route.path ?? 'unmatched';
    dependencies.metrics.requestFinished(api, route, method, status, seconds);
    const { span } = exchange;
    if (span) endRequestSpan(span, exchange, status);
    const line = {
      api,
      method,
      route,
      status,
      ms: Math.round(seconds * 1e5) / 100,
      tenant: exchange.tenant,
      request_id: requestId,
      correlation_id: correlationId,
      ...(span && { trace_id: span.traceId }),
    };
    if ((status >= 400 && !PROBES.has(exchange.path)) || compiled?.unsafe) dependencies.logger.info('request', line);
    else dependencies.logger.debug('request', line);
    const credential = recordedCredential(principal) ?? refusedKey;
    if (!credential) return;
    const { path, clientAddress: ip, bytesIn, admission } = exchange;
    const { keyId, tenant } = credential;
    dependencies.recordKeyRequest({
      keyId,
      tenant,
      method,
      path,
      status,
      ip,
      bytesIn,
      bytesOut,
      at: dependencies.now(),
      admission,
    });
  }
}

/** The name of the session cookie. `secure` is the setting `SECURE_COOKIE`. */
export function sessionCookieName(secure: boolean): string {
  return secure ? '__Host-sys_session' : 'sys_session';
}

function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  return Array.isArray(value) ? value.join(',') : value;
}

/**
 * Whether a request carries one of the keys shared with the console. Compares with all of them, each in constant time.
 */
function isConsole({ headers }: IncomingMessage, keys: readonly string[]): boolean {
  const presented = headers['x-console-key'];
  return typeof presented === 'string' && keys.reduce((matches, key) => equalSecrets(presented, key) || matches, false);
}
