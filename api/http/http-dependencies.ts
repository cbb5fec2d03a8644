import type { Credentials } from '../../application/identity/authenticator.ts';
import type { RefusedKey } from '../../application/identity/load-credential.ts';
import type { ApiKeyRequests } from '../../application/ports/api-key-requests.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { IdempotencyStore } from '../../application/ports/idempotency-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { ProjectionProgress } from '../../application/ports/projection-progress.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { CorsPolicy } from './cors.ts';
import type { HostAndIpFilterOptions } from './host-and-ip-filter.ts';
import type { OutageWatch } from './outage-watch.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** A principal that is an API key. */
export type KeyPrincipal = Extract<Principal, { kind: 'api_key' }>;

type MaybePromise<T> = T | Promise<T>;

/** Everything the HTTP layer needs. The composition root provides it; both listeners share it. */
export type HttpDependencies = {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: requests have no spans. */
  readonly tracing?: Tracing | undefined;
  readonly now: () => Date;
  /** Creates a UUID v7. */
  readonly newId: () => string;

  /**
   * Authenticates a request. Returns without a promise when the result is cached.
   * @returns undefined when no valid credential was sent
   * @throws AppError when the credential cannot be checked now
   */
  readonly authenticate: (credentials: Credentials) => MaybePromise<Principal | RefusedKey | undefined>;
  /** Checks the scope and the content types of an API key. @returns the code of the refusal, undefined when allowed */
  readonly checkKeyScope: (principal: KeyPrincipal, method: string, path: string) => ErrorCode | undefined;
  /** Counts a request towards the monthly limit of its key. @throws `monthly_limit_exceeded` */
  readonly admitKeyRequest: ApiKeyRequests['admit'];
  /** Records a request of a key or an admin token, also a refused one, after its response was sent. Must not block. */
  readonly recordKeyRequest: ApiKeyRequests['record'];
  /** The state of a tenant. @returns undefined for an unknown slug */
  readonly tenantState: (slug: string) => 'active' | 'disabled' | undefined;
  /** Slug of the tenant that has the host as a domain. `host` is in lower case, without port. */
  readonly tenantOfHost: (host: string) => MaybePromise<string | undefined>;

  /** The feature gate. Its functions do no I/O. */
  readonly featureGate: FeatureGate;

  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  readonly idempotency: IdempotencyStore;
  /** Undefined: the primary database serves all reads. */
  readonly replica?: ReplicaRouting | undefined;

  /** Runs the work of a request within the time limits of its kind. Undefined: there are none. */
  readonly withinLimits?: (<T>(kind: 'read' | 'write', work: () => Promise<T>) => Promise<T>) | undefined;

  /** From here on the request uses the tenant's share of the database's connections. Undefined: there are no shares. */
  readonly useShareOf?: ((tenant: string) => void) | undefined;

  /** Undefined: requests wait as long as the database takes. */
  readonly outages?: OutageWatch | undefined;

  /** Default: the limits of `createUnsentBytes`. */
  readonly unsent?: UnsentBytes;

  readonly options: HttpOptions;
};

/** Decides which reads a replica of the database serves (`DATABASE_REPLICA_URL`). */
export type ReplicaRouting = {
  /**
   * Runs a read. Its statements go to the replica when that has reached every position that the caller must see, else
   * to the primary. A read that fails on the replica runs again on the primary. `minimum` is the caller's
   * `X-Min-Position`.
   */
  read<T>(
    reader: { readonly tenant: string; readonly minimum: GlobalPosition | undefined },
    work: () => Promise<T>,
  ): Promise<T>;
  /** Reports a write of the tenant before its response is sent. `position` is undefined when nothing was written. */
  wrote(tenant: string, position: GlobalPosition | undefined): void;
};

/** Which features and capabilities a tenant may use. */
export type FeatureGate = {
  /** Whether the installation does not run the feature: its paths return 404. */
  isHidden(feature: string): boolean;
  /** Whether the feature is withheld from the tenant. */
  isWithheld(tenant: string, feature: string): boolean;
  readonly entitlements: Entitlements;
};

/** Settings of the HTTP layer. */
export type HttpOptions = {
  /** `MAX_JSON_BODY_BYTES`: maximum size of a JSON body. */
  readonly maxJsonBodyBytes: number;
  /** `MAX_BODY_BYTES`: maximum size of any other body. */
  readonly maxBodyBytes: number;
  /** `TRUSTED_PROXIES`: CIDRs or addresses of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /**
   * `ADMIN_CONSOLE_KEY` and `ADMIN_CONSOLE_KEY_PREVIOUS`: the client address of a request with one of them is trusted.
   */
  readonly consoleKeys: readonly string[];
  readonly cors: CorsPolicy;
  /** `ALLOWED_HOSTS`, `IP_ALLOWLIST`. */
  readonly hostAndIpFilter?: HostAndIpFilterOptions;
  /** `SECURE_COOKIE`: names the cookie `__Host-sys_session`, sends HSTS, and redirects HTTP to HTTPS. */
  readonly secure: boolean;
};
