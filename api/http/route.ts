import type { Static, TSchema } from '@sinclair/typebox';
import type { CommandContext } from '../../domain/context.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { AdminGrant } from '../../domain/identity/admin-grants.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { Json } from '../../domain/json.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { RequestHeader, ResponseHeader } from './openapi/headers.ts';
import type { RouteLimit } from './route-limit.ts';

/** Who may call a route. The checks run in this order: credential (401), role (403), existence (404), body (4xx). */
export type Access =
  /** Everyone, also without a credential. */
  | { readonly kind: 'public' }
  /**
   * Every session or API key. On the Content API the scope of a key is checked by method and path before the handler.
   */
  | { readonly kind: 'credential'; readonly roles?: readonly string[] }
  /** A session of a person. Keys are refused with 403 `session_required`, or with the code `refusal`. */
  | { readonly kind: 'session'; readonly roles?: readonly string[]; readonly refusal?: ErrorCode };

/** A request as its handler sees it: parsed, validated and typed. */
export type RouteRequest<P, Q, B, Checked = unknown> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** What the route's `precheck` returned; undefined in the precheck itself and on routes without one. */
  readonly checked: Checked;
  /** A header by its lower-case name; repeated headers are joined by `, `. */
  readonly header: (name: string) => string | undefined;
  /** The caller; undefined on public routes without a credential. */
  readonly principal: Principal | undefined;
  /** The tenant of the request: the credential's, `X-Tenant-ID` for super admins, else the host's, else `default`. */
  readonly tenant: string;
  readonly context: CommandContext;
  /** The client's address behind trusted proxies; see `createClientAddress`. */
  readonly clientAddress: string;
  /** The client as limits count it: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly clientNetwork: string;
  /** Aborted when the client disconnects, and when the service stops during an endless response. */
  readonly signal: AbortSignal;
  /**
   * Authenticates and authorizes again, during long responses.
   * @throws the refusal that the same request would get now
   */
  readonly recheck: () => Promise<Principal | undefined>;
};

/** What a check reads of a request on one object, which the path names by `id`. */
export type IdRequest = Pick<RouteRequest<{ readonly id: string }, unknown, unknown>, 'params' | 'tenant'>;

/**
 * The response of a handler, as a value. Its body is one of `body` (serialised to JSON), `json` (JSON text, for hot
 * paths), `text` and `stream`; a response with none of them is empty.
 */
export type RouteResponse = {
  readonly status: number;
  readonly body?: Json | undefined;
  readonly json?: string | undefined;
  /** Text with the `Content-Type` in `headers`, by default `text/plain; charset=utf-8`. */
  readonly text?: string | undefined;
  /**
   * A body in pieces, pulled as fast as the client reads; `headers` holds its `Content-Type`. The iterator is always
   * closed (`return()`), also when no piece was read. When a piece fails, the connection breaks before the end of the
   * body.
   */
  readonly stream?: AsyncIterable<string | Uint8Array> | undefined;
  /**
   * Whether the stream has no end. The service ends such a stream when it stops; other streams may finish within the
   * deadline.
   */
  readonly endless?: boolean | undefined;
  /** Headers sent after a complete stream; their names are announced before it. */
  readonly trailers?:
    { readonly names: readonly string[]; readonly read: () => Readonly<Record<string, string>> } | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Of a write: the response is sent with `X-Commit-Position` once the read models have reached the position. */
  readonly commit?: { readonly position: GlobalPosition; readonly readModels: readonly string[] } | undefined;
};

export type RouteSpec<P extends TSchema, Q extends TSchema, B extends TSchema, Checked = unknown> = {
  readonly api: 'admin' | 'content';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with `{name}` for parameters: `/api/v1/content/{schema}/{id}`. */
  readonly path: string;
  /** The OpenAPI operation id: unique, camelCase. */
  readonly operation: string;
  /** What the route does, in one line, for the OpenAPI document. */
  readonly summary: string;
  /** The module of the route: content, identity, automation, platform … It is the OpenAPI tag. */
  readonly tag: string;
  readonly access: Access;
  /**
   * An admin token with one of these grants may call the route, independent of the roles in `access`. Without grants,
   * admin tokens are refused with 403 `session_required`. Admin API only. The token acts as `admin` in its own tenant.
   */
  readonly grants?: readonly AdminGrant[];
  /** Path parameters: `Type.Object({id: EntryId})`. A value that does not match gets `notFound` (404), never 400. */
  readonly params?: P;
  /** Code of the 404 for a malformed id in the path. Default `not_found`. */
  readonly notFound?: ErrorCode;
  /**
   * Query parameters. Values are coerced to the schema's types. An invalid query gets 400 `invalid_query_parameter`.
   */
  readonly query?: Q;
  /** JSON body. */
  readonly body?: B;
  /** Accepts an empty body as `{}`. Default: an empty body is refused like text that is not JSON. */
  readonly bodyOptional?: boolean;
  /** Media types in lower case, such as `text/csv`: the handler gets the body as a `Buffer`; other types get 415. */
  readonly rawBody?: readonly string[];
  /** Creates the refusal of an invalid body. Default: 422 `validation_failed` with `fields`. */
  readonly bodyRefusal?: (
    problems: readonly { readonly field: string; readonly message: string; readonly keyword: string }[],
  ) => Error;
  /** Code of the refusal of a body that is not JSON. Default `invalid_json_body`. */
  readonly malformedJson?: ErrorCode;
  /** Maximum size of the body in bytes. Default: `MAX_JSON_BODY_BYTES`, or `MAX_BODY_BYTES` with `rawBody`. */
  readonly maxBodyBytes?: number;
  /** Code of the refusal of a larger body. Default `body_too_large`. */
  readonly tooLarge?: ErrorCode;
  /** Schemas of successful responses by status, for OpenAPI. `null`: no body. */
  readonly responses: Readonly<Record<number, TSchema | null>>;
  /** Media type of a stream that may be the 200 response instead, for OpenAPI. */
  readonly streamed?: string;
  /** Refusals that do not follow from the rest of the declaration, for OpenAPI. */
  readonly refusals?: readonly ErrorCode[];
  /** Request headers that do not follow from the rest of the declaration, for OpenAPI. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** Headers of successful responses that do not follow from the rest of the declaration, for OpenAPI. */
  readonly responseHeaders?: readonly ResponseHeader[];
  /** Whether the route supports `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Limit of calls per client address and process; 429 `rate_limited` when exceeded. */
  readonly limit?: RouteLimit;
  /** Feature of the route: 404 while the feature does not run, or is withheld from the tenant. */
  readonly feature?: FeatureName;
  /** Paid capability that the route needs: without it 402 `payment_required`, before body and query are read. */
  readonly capability?: Capability;
  /** Counts the call against a limit, before `precheck`; throws the refusal of an exceeded limit. */
  consume?(request: RouteRequest<Static<P>, unknown, unknown>): Promise<void>;
  /**
   * Checks access or existence before the body and the query are read, so that its refusal takes precedence over
   * theirs. It runs again after a body that took longer than a second to arrive. The handler gets the result as
   * `request.checked` and does not check again. The result is read before the wait for `X-Min-Position`: do not return
   * rows of a read model from it.
   */
  precheck?(request: RouteRequest<Static<P>, unknown, unknown>): Promise<Checked> | Checked;
  /** Read models that the handler reads; `X-Min-Position` waits for them. */
  readonly reads?: readonly string[];
  handler(request: RouteRequest<Static<P>, Static<Q>, Static<B>, Checked>): Promise<RouteResponse>;
};

/** A route of any parameter, query and body types. */
export type Route = RouteSpec<TSchema, TSchema, TSchema>;

/** Declares a route. The schemas of the declaration type its handler. */
export function route<P extends TSchema, Q extends TSchema, B extends TSchema, Checked>(
  spec: RouteSpec<P, Q, B, Checked>,
): Route {
  // `respond` calls the handler only with values that passed these schemas.
  return spec;
}
