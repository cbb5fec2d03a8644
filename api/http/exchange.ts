import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RefusedKey } from '../../application/identity/load-credential.ts';
import type { Admission } from '../../application/ports/api-key-requests.ts';
import type { Span } from '../../application/ports/tracing.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { Actor } from '../../domain/event.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { ownValue } from '../../domain/own-value.ts';
import { addressBlock } from './address-block.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { RouteRequest } from './route.ts';

const ANONYMOUS: Actor = { kind: 'anonymous', id: 'anonymous' };

type ClockAndIds = Pick<HttpDependencies, 'now' | 'newId'>;

/**
 * One request and its state while it is handled; the handler sees it as `RouteRequest`. It is a class, so that the
 * signal and the context are created on first use: most handlers use neither or one of them.
 */
export class Exchange implements RouteRequest<unknown, unknown, unknown> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly queryText: string;
  readonly requestId: string;
  readonly correlationId: string;
  readonly clientAddress: string;
  readonly startedAt = performance.now();
  compiled: CompiledRoute | undefined = undefined;
  refusedKey: RefusedKey | undefined = undefined;
  /** Undefined when tracing is off, and for probes. */
  span: Span | undefined = undefined;
  /** Set once the request of an API key or an admin token was counted. */
  admission: Admission | undefined = undefined;
  bytesIn = 0;
  /** Set when the handler begins. */
  isHandling = false;

  params: unknown = undefined;
  query: unknown = undefined;
  body: unknown = undefined;
  checked: unknown = undefined;
  principal: Principal | undefined = undefined;
  tenant = 'default';
  recheck: () => Promise<Principal | undefined> = () => Promise.resolve(this.principal);
  readonly #clockAndIds: ClockAndIds;
  #context: CommandContext | undefined = undefined;
  #abort: AbortController | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse, clientAddress: string, clockAndIds: ClockAndIds) {
    this.request = request;
    this.response = response;
    this.clientAddress = clientAddress;
    this.#clockAndIds = clockAndIds;
    const url = originForm(request.url ?? '/');
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.queryText = mark < 0 ? '' : url.slice(mark + 1);
    this.requestId = clockAndIds.newId();
    const correlation = request.headers['x-correlation-id'];
    this.correlationId =
      typeof correlation === 'string' && CORRELATION.test(correlation) ? correlation : this.requestId;
  }

  readonly header = (name: string): string | undefined => {
    const value = ownValue(this.request.headers, name);
    return Array.isArray(value) ? value.join(', ') : value;
  };

  get clientNetwork(): string {
    return addressBlock(this.clientAddress);
  }

  get context(): CommandContext {
    return (this.#context ??= {
      tenant: this.tenant,
      actor: actorOf(this.principal),
      correlationId: this.correlationId,
      causationId: this.requestId,
      now: this.#clockAndIds.now,
      newId: this.#clockAndIds.newId,
      ...(this.span && { traceparent: this.span.traceparent }),
    });
  }

  set context(context: CommandContext) {
    this.#context = context;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = (this.#abort = new AbortController());
      const onClose = () => {
        if (!this.response.writableFinished) abort.abort();
      };
      if (this.response.destroyed) onClose();
      else this.response.once('close', onClose);
    }
    return this.#abort.signal;
  }

  /** Aborts the handler's signal: its response has ended. */
  end(): void {
    this.#abort?.abort();
  }
}

/** `X-Correlation-ID`: 1 to 128 printable ASCII characters. */
const CORRELATION = /^[\x20-\x7e]{1,128}$/;

/** Path and query of a request target. Proxies may send the absolute form, `GET http://host/path`. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const slash = /^https?:\/\/[^/?]*/i.exec(url)?.[0].length;
  return slash === undefined ? url : url.slice(slash) || '/';
}

function actorOf(principal: Principal | undefined): Actor {
  if (!principal) return ANONYMOUS;
  switch (principal.kind) {
    case 'session':
      return { kind: 'user', id: principal.userId };
    case 'api_key':
      return { kind: 'api_key', id: principal.keyId };
    case 'admin_token':
      return { kind: 'admin_token', id: principal.tokenId };
    case 'external':
      return { kind: 'external', id: principal.subject };
  }
}
