import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { ApiKeyRequests } from '../../application/ports/api-key-requests.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import type { CorsPolicy } from './cors.ts';
import type { DoorOptions } from './doors.ts';
import type { IdempotencyStore } from './idempotency.ts';

/** The credentials as they were sent; nothing of them is checked yet. */
export type RequestFacts = {
  readonly api: 'admin' | 'content';
  /** What follows `Authorization: Bearer `. */
  readonly bearer: string | undefined;
  /** `X-API-Key`. */
  readonly apiKey: string | undefined;
  /** Session cookie; only ever on the admin API. */
  readonly sessionCookie: string | undefined;
};

/** A key or an admin token that is known and may not be used (revoked, expired): answered 401 and recorded. */
export type RefusedKey = { readonly kind: 'refused_key'; readonly keyId: string; readonly tenant: string };

/** A principal that is an API key. */
export type KeyPrincipal = Extract<Principal, { kind: 'api_key' }>;

type MaybePromise<T> = T | Promise<T>;

/** Everything the HTTP layer needs; made by the composition root, shared by both listeners. */
export type HttpDependencies = {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Where traces are asked for. */
  readonly tracing?: Tracing | undefined;
  readonly now: () => Date;
  /** A new UUID v7. */
  readonly newId: () => string;

  /**
   * Proves the credential. Answers without a promise where it is cached. May throw a refusal (such as `monthly_limit_exceeded`).
   * @returns undefined when no valid credential was sent.
   */
  readonly authenticate: (facts: RequestFacts) => MaybePromise<Principal | RefusedKey | undefined>;
  /** Scope and content-type list of a key on the Content API (spec 1, API key checks). @returns the refusal, undefined when it may pass. */
  readonly checkKeyScope: (principal: KeyPrincipal, method: string, path: string) => ErrorCode | undefined;
  /** Lets a request of a key count towards its month, before tenant, path and body are looked at. @throws `monthly_limit_exceeded` */
  readonly admitKeyRequest: ApiKeyRequests['admit'];
  /** Called once for every request by a key or an admin token, refused ones included, after its answer was handed to the socket; must not block. */
  readonly recordKeyRequest: ApiKeyRequests['record'];
  /** @returns undefined for a slug that names no tenant */
  readonly tenantState: (slug: string) => 'active' | 'disabled' | undefined;
  /** Tenant whose domains hold the host (lower case, without port). */
  readonly tenantOfHost: (host: string) => MaybePromise<string | undefined>;

  /** Features and what the license opens (spec 1, gating rules). All of it answers at once. */
  readonly gate: RouteGate;

  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  readonly idempotency: IdempotencyStore;
  /** Where reads may be answered by a replica of the database. */
  readonly replica?: ReplicaRouting | undefined;

  readonly options: HttpOptions;
};

/** Which reads may be answered by a replica of the database (`DATABASE_REPLICA_URL`). */
export type ReplicaRouting = {
  /**
   * Does a read: its statements go to the replica where that has reached everything that this caller must see, else to the primary. What goes wrong
   * on the replica is done again as a whole on the primary. `minimum`: the position that the caller names (`X-Min-Position`).
   */
  read<T>(reader: { readonly tenant: string; readonly minimum: GlobalPosition | undefined }, work: () => Promise<T>): Promise<T>;
  /** A request that may change something of the tenant is about to be answered; the position where it changed something. */
  wrote(tenant: string, position: GlobalPosition | undefined): void;
};

/** What stands between a route and its callers beside who they are. */
export type RouteGate = {
  /** Whether nothing of the feature is served by this install: its paths then were never there. */
  isHidden(feature: string): boolean;
  /** Whether the tenant lacks the feature. */
  isWithheld(tenant: string, feature: string): boolean;
  readonly entitlements: Entitlements;
};

/** Settings of the HTTP layer. */
export type HttpOptions = {
  /** `MAX_JSON_BODY_BYTES`. */
  readonly maxJsonBodyBytes: number;
  /** `MAX_BODY_BYTES`: of bodies that are no JSON. */
  readonly maxBodyBytes: number;
  /** `TRUSTED_PROXIES`: CIDRs or addresses whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[];
  /** `ADMIN_CONSOLE_KEY` and `ADMIN_CONSOLE_KEY_PREVIOUS`, those that are set: whoever sends one names the client's address. */
  readonly consoleKeys: readonly string[];
  readonly cors: CorsPolicy;
  /** `ALLOWED_HOSTS`, `IP_ALLOWLIST`. */
  readonly doors?: DoorOptions;
  /** `SECURE_COOKIE`: cookie name `__Host-sys_session`, HSTS, redirect of http to https (never of probes and `/.well-known/`). */
  readonly secure: boolean;
};

/** The part of a Node request the layer's pure functions look at. */
export type HeaderSource = { readonly headers: IncomingHttpHeaders };
