import { Agent } from 'undici';
import { abortable } from '../../application/concurrency/abortable.ts';
import type { Outbound, OutboundOutcome, OutboundRequest } from '../../application/ports/outbound.ts';
import { FRAMING_HEADERS } from '../../domain/automation/request-headers.ts';
import { type AddressGuard, AddressNotAllowedError, createAddressGuard } from './address-guard.ts';
import { parseAllowedNetworks } from './allowed-networks.ts';
import { createConnector } from './connector.ts';
import { describeFailure } from './describe-failure.ts';
import { type OwnEndpoint, createOwnEndpoints } from './own-endpoints.ts';
import { parseRetryAfter } from './parse-retry-after.ts';
import { readBody } from './read-body.ts';
import { type Hop, RedirectError, isRedirect, nextHop } from './redirect.ts';
import { type Lookup, ResolveError, createResolver } from './resolve-host.ts';

export type OutboundOptions = {
  /** Entries of the setting `WEBHOOK_ALLOWED_PRIVATE_NETWORKS`. Default: none. */
  readonly allowedPrivateNetworks?: readonly string[];
  /**
   * Listeners, database, broker, cache and event store of this installation. They are always refused. The list is read
   * at each request, so entries can be added later.
   */
  readonly ownEndpoints?: readonly OwnEndpoint[];
  /** Resolves names. Default: the resolver of the operating system. */
  readonly lookup?: Lookup | undefined;
  readonly lookupTimeoutMs?: number;
  readonly lookupCacheMs?: number;
  /** Most connections to one origin. Default: 32. */
  readonly connectionsPerOrigin?: number;
};

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MAX_RESPONSE_BYTES = 1_048_576;
const MAX_HEADER_BYTES = 16_384;

/**
 * Creates the HTTP client for URLs that users configure. Only this client opens such connections; ESLint refuses other
 * HTTP clients. It checks every URL with the guard, also those of redirects. It follows at most three redirects unless
 * the request sets another limit, uses no proxy, and does not upgrade connections.
 * @throws RangeError for an invalid entry of `allowedPrivateNetworks`
 */
export function openOutbound(options: OutboundOptions = {}): Outbound {
  const resolver = createResolver({
    lookup: options.lookup,
    timeoutMs: options.lookupTimeoutMs,
    cacheMs: options.lookupCacheMs,
  });
  const allowed = parseAllowedNetworks(options.allowedPrivateNetworks ?? []);
  const guard = createAddressGuard({
    allowed,
    resolver,
    own: createOwnEndpoints({ list: options.ownEndpoints ?? [], resolver }),
  });
  const agent = new Agent({
    connect: createConnector({ connectTimeoutMs: TIMEOUT_MS, guard }),
    connections: options.connectionsPerOrigin ?? 32,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
  });

  return {
    async send(request) {
      const started = performance.now();
      const deadline = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
      const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
      try {
        const answer = await abortable(follow({ request, signal }, { agent, guard }), signal);
        return { kind: 'answered', ...answer, durationMs: elapsed(started) };
      } catch (error) {
        const stopped = request.signal?.aborted === true && !deadline.aborted;
        return describeFailure(error, { timedOut: deadline.aborted, stopped, durationMs: elapsed(started) });
      }
    },
    async check(url) {
      try {
        await guard.check(url);
        return undefined;
      } catch (error) {
        if (error instanceof AddressNotAllowedError) return error.message;
        if (error instanceof ResolveError) return 'the host does not resolve';
        throw error;
      }
    },
    close: () => agent.close(),
  };
}

type Answered = Omit<Extract<OutboundOutcome, { kind: 'answered' }>, 'kind' | 'durationMs'>;

/** Sends a request and follows its redirects. */
async function follow(
  { request, signal }: { readonly request: OutboundRequest; readonly signal: AbortSignal },
  { agent, guard }: { readonly agent: Agent; readonly guard: AddressGuard },
): Promise<Answered> {
  let origin: string | undefined;
  let { url, method, body }: Hop = { url: request.url, method: request.method, body: request.body };
  for (let redirects = 0; ; redirects += 1) {
    // Check before every request: a pooled connection would skip the connector, and the name may now resolve to a
    // private address.
    const target = await guard.check(url);
    signal.throwIfAborted();
    origin ??= target.url.origin;
    const sameOrigin = target.url.origin === origin;
    const headers = requestHeaders(
      { ...request.headers, ...(sameOrigin ? request.originHeaders : {}) },
      body !== undefined,
    );
    const response = await agent.request({
      origin: target.url.origin,
      path: target.url.pathname + target.url.search,
      method,
      headers,
      body: body ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // An aborted body emits an error later; without a listener it would end the process.
    response.body.on('error', () => undefined);
    const location = single(response.headers['location']);
    if (!isRedirect(response.statusCode) || location === undefined) {
      const { text, truncated } = await readBody(response.body, request.maxResponseBytes ?? MAX_RESPONSE_BYTES);
      return {
        status: response.statusCode,
        body: text,
        truncated,
        redirects,
        retryAfterMs: parseRetryAfter(single(response.headers['retry-after']), Date.now()),
      };
    }
    response.body.destroy();
    if (redirects === (request.maxRedirects ?? MAX_REDIRECTS)) throw new RedirectError('too many redirects');
    ({ url, method, body } = nextHop({ url, method, body }, response.statusCode, location));
  }
}

/** Removes framing headers of the caller, because the client sets them, and adds the user agent. */
function requestHeaders(headers: Readonly<Record<string, string>>, hasBody: boolean): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = lower.filter(([name]) => !FRAMING_HEADERS.has(name) && (hasBody || name !== 'content-type'));
  return { 'user-agent': 'palimpsest', ...Object.fromEntries(sent) };
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function elapsed(since: number): number {
  return Math.round(performance.now() - since);
}
