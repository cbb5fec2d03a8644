import { Agent } from 'undici';
import type { Outbound, OutboundOutcome, OutboundRequest } from '../../application/ports/outbound.ts';
import { parseAllowedNetworks } from './allowed-networks.ts';
import { guardedConnector } from './connector.ts';
import { describeFailure } from './describe-failure.ts';
import type { Guard } from './guard.ts';
import { createGuard, RefusedError } from './guard.ts';
import type { OwnEndpoint } from './own-endpoints.ts';
import { ownEndpoints } from './own-endpoints.ts';
import { parseRetryAfter } from './parse-retry-after.ts';
import { readBody } from './read-body.ts';
import type { Hop } from './redirect.ts';
import { isRedirect, nextHop, RedirectError } from './redirect.ts';
import type { Lookup } from './resolve-host.ts';
import { createResolver, ResolveError } from './resolve-host.ts';

export type OutboundOptions = {
  /** `WEBHOOK_ALLOWED_PRIVATE_NETWORKS`, split at commas. */
  readonly allowedPrivateNetworks?: readonly string[];
  /** Listeners, database, broker, cache and event store of this install: always refused. Read at each request, so that it may grow. */
  readonly ownEndpoints?: readonly OwnEndpoint[];
  /** Replaces the system's resolver (tests). */
  readonly lookup?: Lookup | undefined;
  readonly lookupTimeoutMs?: number;
  readonly lookupCacheMs?: number;
  /** Most connections to one origin. Default 32. */
  readonly connectionsPerOrigin?: number;
};

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MAX_RESPONSE_BYTES = 1_048_576;
const MAX_HEADER_BYTES = 16_384;

/**
 * The guarded client: the one place that opens sockets to addresses users chose (spec 3, webhooks; ESLint refuses others).
 * Follows at most three redirects (or what the request allows) by hand, each through the same guard; reads no proxy from the environment; upgrades nothing.
 * @throws RangeError for a bad entry of `allowedPrivateNetworks`
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const resolver = createResolver({ lookup: options.lookup, timeoutMs: options.lookupTimeoutMs, cacheMs: options.lookupCacheMs });
  const allowed = parseAllowedNetworks(options.allowedPrivateNetworks ?? []);
  const guard = createGuard({ allowed, resolver, own: ownEndpoints(options.ownEndpoints ?? [], resolver) });
  const agent = new Agent({
    connect: guardedConnector(guard, TIMEOUT_MS),
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
        const answer = await abortable(follow(agent, guard, request, signal), signal);
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
        if (error instanceof RefusedError) return error.message;
        if (error instanceof ResolveError) return 'the host does not resolve';
        throw error;
      }
    },
    close: () => agent.close(),
  };
}

type Answered = Omit<Extract<OutboundOutcome, { kind: 'answered' }>, 'kind' | 'durationMs'>;

/** Sends, and follows redirects while they are allowed. */
async function follow(agent: Agent, guard: Guard, request: OutboundRequest, signal: AbortSignal): Promise<Answered> {
  let origin: string | undefined;
  let { url, method, body }: Hop = { url: request.url, method: request.method, body: request.body };
  for (let redirects = 0; ; redirects += 1) {
    // Before every send, whatever connection is pooled: a name that has turned private is refused now (spec 3, webhook `url`).
    const target = await guard.check(url);
    signal.throwIfAborted();
    origin ??= target.url.origin;
    const sameOrigin = target.url.origin === origin;
    const headers = ownHeaders({ ...request.headers, ...(sameOrigin ? request.originHeaders : {}) }, body !== undefined);
    const response = await agent.request({ origin: target.url.origin, path: target.url.pathname + target.url.search, method, headers, body: body ?? null, signal, headersTimeout: 0, bodyTimeout: 0 });
    // An aborted body emits an error after we stopped listening.
    response.body.on('error', () => undefined);
    const location = single(response.headers['location']);
    if (!isRedirect(response.statusCode) || location === undefined) {
      const { text, truncated } = await readBody(response.body, request.maxResponseBytes ?? MAX_RESPONSE_BYTES);
      return { status: response.statusCode, body: text, truncated, redirects, retryAfterMs: parseRetryAfter(single(response.headers['retry-after']), Date.now()) };
    }
    response.body.destroy();
    if (redirects === (request.maxRedirects ?? MAX_REDIRECTS)) throw new RedirectError('too many redirects');
    ({ url, method, body } = nextHop({ url, method, body }, response.statusCode, location));
  }
}

/** Headers that frame a message or name its receiver are ours alone, whatever a caller let through. */
const FRAMING = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer', 'proxy-authorization', 'proxy-connection']);

function ownHeaders(given: Readonly<Record<string, string>>, hasBody: boolean): Record<string, string> {
  const lower = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  const kept = lower.filter(([name]) => !FRAMING.has(name) && (hasBody || name !== 'content-type'));
  return { 'user-agent': 'palimpsest', ...Object.fromEntries(kept) };
}

/** Rejects as soon as the signal says so, even where the work is deep in a lookup. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort);
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function elapsed(since: number): number {
  return Math.round(performance.now() - since);
}
