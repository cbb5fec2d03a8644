import express from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAppError } from '../../domain/errors.ts';
import { sameText } from './access.ts';
import { createClientAddress } from './client-address.ts';
import { recordedCredential } from './admit.ts';
import { compileRoute } from './compile-route.ts';
import { createCors } from './cors.ts';
import { createDoors } from './doors.ts';
import { errorAnswer } from './error-answer.ts';
import { Exchange } from './exchange.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { App } from './listener.ts';
import type { Serving } from './respond.ts';
import { respond } from './respond.ts';
import type { Answer, Route } from './route.ts';
import { PROBES } from './probes.ts';
import { endRequestSpan, startRequestSpan } from './request-span.ts';
import { buildRouteTable } from './route-table.ts';
import { securityHeaders } from './security-headers.ts';
import { sendAnswer } from './send-answer.ts';
import { sendStream } from './send-stream.ts';

export type CreateApiOptions = {
  readonly api: 'admin' | 'content';
  /** The whole table; only the routes of `api` are served. */
  readonly routes: readonly Route[];
  readonly dependencies: HttpDependencies;
};

/** Express's router as Node calls it. A method, because a plain Node request is less than the router's types ask for and all that it needs. */
type PlainRouter = { handle(request: IncomingMessage, response: ServerResponse, done: (error?: unknown) => void): void };

/**
 * Makes what serves one listener from the route declarations (spec 5, rule 13). One handler on Express's router serves them all: the
 * path is looked up in a tree, so the cost of a request does not grow with the number of routes. The router runs without Express's
 * application around it, which gives every request new prototypes and so costs more than all of this layer (rule 14: measured 90 µs
 * against 25 µs a request); queries are therefore parsed by \`parseQuery\`, never by \`request.query\`.
 * @throws Error when declarations collide or a schema does not compile
 */
export function createApi({ api, routes, dependencies }: CreateApiOptions): App {
  const { options } = dependencies;
  const serving: Serving = {
    api,
    table: buildRouteTable(routes.filter((route) => route.api === api).map((route) => ({ method: route.method, path: route.path, target: compileRoute(route) }))),
    cors: createCors(options.cors, (host) => typeof dependencies.tenantOfHost(host) === 'string'),
    doors: options.doors && createDoors(options.doors),
    cookieName: sessionCookieName(options.secure),
    dependencies,
  };
  const constant = ['Vary', 'Origin', ...securityHeaders(options)];
  const clientAddress = createClientAddress(options.trustedProxies);

  const router = express.Router();
  /** Of the listener that serves this API. */
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
    const exchange = new Exchange(request, response, clientAddress({ peer: request.socket.remoteAddress, forwarded: forwardedFor(request), fromConsole: isConsole(request, options.consoleKeys) }), dependencies);
    if (dependencies.tracing) exchange.span = startRequestSpan(dependencies.tracing, exchange);
    let answer: Answer;
    try {
      answer = await respond(exchange, serving);
    } catch (error) {
      answer = refused(error, exchange);
    }
    let sent;
    const { stream } = answer;
    try {
      sent = sendAnswer(exchange, answer, constant, serving);
    } catch (error) {
      answer = refused(error, exchange);
      if (response.headersSent) response.destroy();
      else sent = sendAnswer(exchange, answer, constant, serving);
    }
    if (stream) {
      sent = await sendStream(exchange, { ...answer, stream }, {
        stopping,
        onError: (error) => {
          refused(error, exchange);
        },
      });
    }
    finished(exchange, answer, sent ?? 0);
  }

  function refused(error: unknown, exchange: Exchange): Answer {
    const answer = errorAnswer(error);
    // What a probe answers is told where it changes.
    if (answer.status >= 500 && !PROBES.has(exchange.path)) {
      const { requestId, correlationId, compiled } = exchange;
      const detail = { request_id: requestId, correlation_id: correlationId, route: compiled?.route.path, error };
      if (isAppError(error)) dependencies.logger.warn('request failed', detail);
      else dependencies.logger.error('request failed', detail);
    }
    return answer;
  }

  /** Reads are logged at `debug`, writes and refusals at `info`: a line a read would halve the throughput. */
  function finished(exchange: Exchange, { status }: Answer, bytesOut: number): void {
    const { request, compiled, principal, refusedKey, requestId, correlationId } = exchange;
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    const method = request.method ?? 'GET';
    const route = compiled?.route.path ?? 'unmatched';
    dependencies.metrics.requestFinished(api, route, method, status, seconds);
    const { span } = exchange;
    if (span) endRequestSpan(span, exchange, status);
    const line = { api, method, route, status, ms: Math.round(seconds * 1e5) / 100, tenant: exchange.tenant, request_id: requestId, correlation_id: correlationId, ...(span && { trace_id: span.traceId }) };
    if ((status >= 400 && !PROBES.has(exchange.path)) || compiled?.unsafe) dependencies.logger.info('request', line);
    else dependencies.logger.debug('request', line);
    const credential = recordedCredential(principal) ?? refusedKey;
    if (!credential) return;
    const { path, clientAddress: ip, bytesIn, admission } = exchange;
    const { keyId, tenant } = credential;
    dependencies.recordKeyRequest({ keyId, tenant, method, path, status, ip, bytesIn, bytesOut, at: dependencies.now(), admission });
  }
}

/** Name of the session cookie (spec 1, credential kinds). */
export function sessionCookieName(secure: boolean): string {
  return secure ? '__Host-sys_session' : 'sys_session';
}

function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  return Array.isArray(value) ? value.join(',') : value;
}

/** Whether a request carries the key that is shared with the console; in constant time, against every key that is in force (spec 1, session rules). */
function isConsole({ headers }: IncomingMessage, keys: readonly string[]): boolean {
  const presented = headers['x-console-key'];
  return typeof presented === 'string' && keys.reduce((matches, key) => sameText(presented, key) || matches, false);
}
