import type { TSchema, Static } from '@sinclair/typebox';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { FeatureName } from '../../domain/platform/features.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { Json } from '../../domain/json.ts';
import type { AdminGrant } from '../../domain/identity/admin-grants.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { RouteLimit } from './route-limit.ts';
import type { AnswerHeader, RequestHeader } from './openapi/headers.ts';

/** Who may call a route. Order of refusals: 401, role 403, existence 404, body 4xx (spec 4 A, sign-in details). */
export type Access =
  /** Anyone. */
  | { readonly kind: 'public' }
  /** Any session or key (Content API: scopes by method and path are checked before the handler). */
  | { readonly kind: 'credential'; readonly roles?: readonly string[] }
  /** A person's session; keys are refused with 403 `This route needs a signed-in session.` unless `refusal` names another code. */
  | { readonly kind: 'session'; readonly roles?: readonly string[]; readonly refusal?: ErrorCode };

/** What a handler sees: parsed, checked, typed. */
export type RouteRequest<P, Q, B> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Headers by lower-case name; repeated ones joined by `, `. */
  readonly header: (name: string) => string | undefined;
  /** Who calls; on public routes undefined without a credential. */
  readonly principal: Principal | undefined;
  /** Tenant the request acts in: the credential's, `X-Tenant-ID` for super admins, else the host's, else `default`. */
  readonly tenant: string;
  readonly context: CommandContext;
  /** Address of the client after trusted proxies. */
  readonly clientAddress: string;
  /** Aborted when the client goes away, and when the service stops while an endless answer lasts. */
  readonly signal: AbortSignal;
  /** Proves the credential again, for answers that last. @throws the refusal that the same request would meet now */
  readonly recheck: () => Promise<Principal | undefined>;
};

/** Answers are values. `json` is text that is JSON already (hot paths); `body` is serialised; `stream` is sent as it comes; none of them: an empty answer. */
export type Answer = {
  readonly status: number;
  readonly body?: Json | undefined;
  readonly json?: string | undefined;
  /** Any other text; its `Content-Type` stands in `headers`, default `text/plain; charset=utf-8`. */
  readonly text?: string | undefined;
  /**
   * A body that comes piece by piece, asked for only as fast as the client takes it; `Content-Type` stands in `headers`. Its iterator is returned
   * in every case, also when it was never begun. A piece that fails breaks the answer off without a proper end.
   */
  readonly stream?: AsyncIterable<string | Uint8Array> | undefined;
  /** The stream has no end of its own: it ends at once when the service stops. Others get the listener's deadline to finish. */
  readonly endless?: boolean | undefined;
  /** Headers after a stream that came to its end; their names are announced before it. */
  readonly trailers?: { readonly names: readonly string[]; readonly read: () => Readonly<Record<string, string>> } | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** A write: wait until the read models have reached the position, then answer with `X-Commit-Position` (rule 7). */
  readonly commit?: { readonly position: GlobalPosition; readonly readModels: readonly string[] } | undefined;
};

export type RouteSpec<P extends TSchema, Q extends TSchema, B extends TSchema> = {
  readonly api: 'admin' | 'content';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for parameters, as the specification writes them: `/api/v1/content/{schema}/{id}`. */
  readonly path: string;
  /** Unique, camelCase: the OpenAPI operation id. */
  readonly operation: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  /** Room of the house: content, identity, automation, platform … (OpenAPI tag). */
  readonly tag: string;
  readonly access: Access;
  /**
   * Grants of which one opens the route to admin tokens, whatever role it asks of people; without any they are refused with 403
   * `This route needs a signed-in session.` Admin API only. The handler acts with the token's role, `admin`, in the token's tenant (spec 4 A, admin tokens).
   */
  readonly grants?: readonly AdminGrant[];
  /** Path parameters. `Type.Object({id: EntryId})`. An id that is no UUID answers `notFound` (404), never 400. */
  readonly params?: P;
  /** Code of the 404 for a malformed id in the path. Default `not_found`. */
  readonly notFound?: ErrorCode;
  /** Query parameters; values arrive as text and are coerced to the schema's types. A refusal answers 400 `invalid query parameter: <name>`. */
  readonly query?: Q;
  /** JSON body. */
  readonly body?: B;
  /** An empty body counts as `{}`. Default: it is refused like text that is not JSON. */
  readonly bodyOptional?: boolean;
  /** The body is handed over as bytes (a `Buffer`) when its media type is one of these (lower case, such as `text/csv`); others answer 415. */
  readonly rawBody?: readonly string[];
  /** What a refused body answers. Default: 422 `validation failed` with `fields`. */
  readonly refuseBody?: (problems: readonly { readonly field: string; readonly message: string; readonly keyword: string }[]) => Error;
  /** Code for text that is not JSON. Default `invalid_json_body`. */
  readonly malformedJson?: ErrorCode;
  /** Most bytes of the body. Default: the setting `MAX_JSON_BODY_BYTES`. */
  readonly maxBodyBytes?: number;
  /** Code for a body over it. Default `body_too_large`. */
  readonly tooLarge?: ErrorCode;
  /** Bodies of success by status, for OpenAPI. `null`: no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** Media type in which 200 may answer as a stream instead, for OpenAPI. */
  readonly streamed?: string;
  /** Refusals beyond those that every route has, for OpenAPI. */
  readonly refusals?: readonly ErrorCode[];
  /** Headers that the handler reads, beyond those that follow from the rest of the declaration, for OpenAPI. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** Headers of success that the handler sets, beyond those that follow from the rest of the declaration, for OpenAPI. */
  readonly answerHeaders?: readonly AnswerHeader[];
  /** Whether `Idempotency-Key` is honoured (POST of entries, keys, webhooks, imports). */
  readonly idempotent?: boolean;
  /** How fast one client address may call it, in each process: 429 `rate_limited` beyond (spec 1, limits). */
  readonly limit?: RouteLimit;
  /** Rate-limit class, later bound to rules. */
  readonly rateLimit?: 'sign_in' | 'default';
  /** Feature that serves it (spec 1, gating rules): 404 where the feature does not run, or the tenant lacks it. */
  readonly feature?: FeatureName;
  /** Paid capability it needs beside a feature that is free: without it 402 `payment_required`, before body and query are looked at. */
  readonly capability?: Capability;
  /** Runs before body and query are looked at: refusals that win over a bad body, such as 404 of a missing resource (spec 4 A, order of refusals). */
  readonly precheck?: (request: RouteRequest<Static<P>, unknown, unknown>) => Promise<void>;
  /** Read models the answer comes from; `X-Min-Position` waits for them. */
  readonly reads?: readonly string[];
  readonly handler: (request: RouteRequest<Static<P>, Static<Q>, Static<B>>) => Promise<Answer>;
};

/** A route with its types erased, as the table of routes holds it. */
export type Route = RouteSpec<TSchema, TSchema, TSchema>;

/** Declares a route: the handler is typed by the schemas beside it (spec 5, rule 13). */
export function route<P extends TSchema, Q extends TSchema, B extends TSchema>(spec: RouteSpec<P, Q, B>): Route {
  // The adapter calls the handler only with values that passed these very schemas.
  return spec;
}
