import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '../../application/ports/tracing.ts';
import type { Admission } from '../../application/ports/api-key-requests.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { Actor } from '../../domain/event.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies, RefusedKey } from './http-dependencies.ts';
import type { RouteRequest } from './route.ts';

const ANONYMOUS: Actor = { kind: 'anonymous', id: 'anonymous' };

type World = Pick<HttpDependencies, 'now' | 'newId'>;

/**
 * One request on its way through the layer, and what its handler sees of it. A class, so that what most handlers never ask for
 * (signal, context) is made only when they do.
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
  /** Where traces are asked for. */
  span: Span | undefined = undefined;
  /** Of a key or an admin token, once its request counts. */
  admission: Admission | undefined = undefined;
  bytesIn = 0;

  params: unknown = undefined;
  query: unknown = undefined;
  body: unknown = undefined;
  principal: Principal | undefined = undefined;
  tenant = 'default';
  recheck: () => Promise<Principal | undefined> = () => Promise.resolve(this.principal);
  readonly #world: World;
  #context: CommandContext | undefined = undefined;
  #abort: AbortController | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse, clientAddress: string, world: World) {
    this.request = request;
    this.response = response;
    this.clientAddress = clientAddress;
    this.#world = world;
    const url = originForm(request.url ?? '/');
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.queryText = mark < 0 ? '' : url.slice(mark + 1);
    this.requestId = world.newId();
    const correlation = request.headers['x-correlation-id'];
    this.correlationId = typeof correlation === 'string' && CORRELATION.test(correlation) ? correlation : this.requestId;
  }

  readonly header = (name: string): string | undefined => {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };

  get context(): CommandContext {
    return (this.#context ??= {
      tenant: this.tenant,
      actor: actorOf(this.principal),
      correlationId: this.correlationId,
      causationId: this.requestId,
      now: this.#world.now,
      newId: this.#world.newId,
      ...(this.span && { traceparent: this.span.traceparent }),
    });
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = (this.#abort = new AbortController());
      const gone = () => {
        if (!this.response.writableFinished) abort.abort();
      };
      if (this.response.destroyed) gone();
      else this.response.once('close', gone);
    }
    return this.#abort.signal;
  }

  /** Tells the handler that its answer is over. */
  end(): void {
    this.#abort?.abort();
  }
}

/** 1 to 128 printable characters (spec 4 A, settings). */
const CORRELATION = /^[\x20-\x7e]{1,128}$/;

/** A proxy's `GET http://host/path` names the same path as `GET /path`. */
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
