import { v7 } from 'uuid';
import { createApi } from '../../api/http/create-api.ts';
import type { HttpDependencies, HttpOptions } from '../../api/http/http-dependencies.ts';
import { type Listener, startListener } from '../../api/http/listener.ts';
import type { Route } from '../../api/http/route.ts';
import type { ApiKeyRequest } from '../../application/ports/api-key-requests.ts';
import { FREE_TIER } from '../../application/ports/entitlements.ts';
import type { IdempotencyStore, StoredResponse } from '../../application/ports/idempotency-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import { type GlobalPosition, positionFrom } from '../../domain/event.ts';
import { billingPeriod } from '../../domain/identity/billing-period.ts';
import type { Principal } from '../../domain/identity/principal.ts';

/** The principals of the test authenticator, by bearer token, cookie or API key. */
const PRINCIPALS: Readonly<Record<string, Principal>> = {
  admin: {
    kind: 'session',
    userId: 'u1',
    sessionId: 's1',
    tenant: 'default',
    roles: ['admin'],
    via: 'bearer',
    csrfToken: 'csrf-1',
  },
  super: {
    kind: 'session',
    userId: 'u2',
    sessionId: 's2',
    tenant: 'default',
    roles: ['super_admin'],
    via: 'bearer',
    csrfToken: 'csrf-2',
  },
  editor: {
    kind: 'session',
    userId: 'u3',
    sessionId: 's3',
    tenant: 'acme',
    roles: ['editor'],
    via: 'bearer',
    csrfToken: 'csrf-3',
  },
  svc_reader: {
    kind: 'api_key',
    keyId: 'k1',
    tenant: 'acme',
    roles: [],
    scopes: ['things:read'],
    schemas: [],
    monthlyLimit: 0,
  },
  svc_writer: {
    kind: 'api_key',
    keyId: 'k2',
    tenant: 'acme',
    roles: ['editor'],
    scopes: ['things:*'],
    schemas: [],
    monthlyLimit: 0,
  },
  svc_admin: {
    kind: 'api_key',
    keyId: 'k3',
    tenant: 'acme',
    roles: ['admin'],
    scopes: [],
    schemas: [],
    monthlyLimit: 0,
  },
};

/** The members of a JSON body that tests read. */
export type AnswerBody = {
  readonly error: string;
  readonly code: string;
  readonly fields: readonly { readonly field: string; readonly message: string }[];
  readonly reasons: readonly string[];
  readonly paths: Readonly<Record<string, unknown>>;
};

/** Parses the JSON body of a response. */
export async function bodyOf(response: Response): Promise<AnswerBody> {
  const body: AnswerBody = JSON.parse(await response.text());
  return body;
}

export type Served = {
  readonly admin: Listener;
  readonly content: Listener;
  readonly keyRequests: ApiKeyRequest[];
  readonly logs: {
    readonly level: string;
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
  readonly requests: string[];
  /** The position that the read models have reached; tests may set it. */
  position: GlobalPosition;
};

/** Serves routes on two local listeners during the enclosing `describe`. */
export function useServed(
  routes: readonly Route[],
  options: Partial<HttpOptions> = {},
  overrides: Partial<HttpDependencies> = {},
): () => Served {
  let served: Served | undefined;
  before(async () => {
    served = await serve(routes, options, overrides);
  });
  after(async () => {
    await Promise.all([served?.admin.close({ deadlineMs: 500 }), served?.content.close({ deadlineMs: 500 })]);
  });
  return () => {
    if (!served) throw new Error('the routes are served only inside tests');
    return served;
  };
}

export async function serve(
  routes: readonly Route[],
  options: Partial<HttpOptions> = {},
  overrides: Partial<HttpDependencies> = {},
): Promise<Served> {
  const keyRequests: ApiKeyRequest[] = [];
  const logs: Served['logs'] = [];
  const requests: string[] = [];
  const state = { position: positionFrom(10) };
  const logger: Logger = {
    debug: () => undefined,
    info: (message, fields = {}) => logs.push({ level: 'info', message, fields }),
    warn: (message, fields = {}) => logs.push({ level: 'warn', message, fields }),
    error: (message, fields = {}) => logs.push({ level: 'error', message, fields }),
    child: () => logger,
  };
  const nothing = () => undefined;
  const metrics: Metrics = {
    appendFinished: nothing,
    lag: nothing,
    batchApplied: nothing,
    queueDepth: nothing,
    delivery: nothing,
    requestFinished: (api, route, method, status) => requests.push(`${api} ${method} ${route} ${status}`),
  };
  const dependencies: HttpDependencies = {
    logger,
    metrics,
    now: () => new Date(),
    newId: v7,
    authenticate: ({ bearer, apiKey, sessionCookie }) => {
      if (apiKey === 'svc_dead') return { kind: 'refused_key', keyId: 'k9', tenant: 'acme' };
      const principal = PRINCIPALS[bearer ?? apiKey ?? sessionCookie ?? ''];
      return principal?.kind === 'session' && bearer === undefined ? { ...principal, via: 'cookie' } : principal;
    },
    checkKeyScope: ({ scopes }, method, path) => {
      const needed = `${path.split('/')[3] ?? ''}:${method === 'GET' ? 'read' : 'write'}`;
      return scopes.includes(needed) || scopes.includes('things:*') ? undefined : 'insufficient_scope';
    },
    admitKeyRequest: (_, at) => ({ period: billingPeriod(at), counted: false }),
    recordKeyRequest: (request) => keyRequests.push(request),
    featureGate: { isHidden: () => false, isWithheld: () => false, entitlements: FREE_TIER },
    tenantState: (slug) => (['default', 'acme'].includes(slug) ? 'active' : undefined),
    tenantOfHost: (host) => Promise.resolve(host === 'acme.test' ? 'acme' : undefined),
    progress: {
      waitFor: (_names, position) => Promise.resolve(position <= state.position),
    },
    idempotency: memoryIdempotency(),
    ...overrides,
    options: {
      maxJsonBodyBytes: 1_048_576,
      maxBodyBytes: 10_485_760,
      trustedProxies: [],
      consoleKeys: [],
      secure: false,
      cors: {
        origins: ['http://localhost:5173'],
        allowMethods: ['GET', 'POST'],
        allowHeaders: ['Content-Type'],
        exposeHeaders: ['X-Request-Id', 'RateLimit-*'],
        maxAge: 3600,
      },
      ...options,
    },
  };
  const [admin, content] = await Promise.all(
    (['admin', 'content'] as const).map((api) =>
      startListener({ app: createApi({ api, routes, dependencies }), address: '127.0.0.1:0' }),
    ),
  );
  if (!admin || !content) throw new Error('unreachable');
  return Object.assign(state, { admin, content, keyRequests, logs, requests });
}

/** An in-memory store of idempotency keys. */
function memoryIdempotency(): IdempotencyStore {
  const kept = new Map<string, { bodyHash: string; attempt: string; response?: StoredResponse }>();
  return {
    begin: (scope, { bodyHash, requestId }) => {
      const name = JSON.stringify(scope);
      const found = kept.get(name);
      if (!found) {
        kept.set(name, { bodyHash, attempt: name });
        return Promise.resolve({ kind: 'fresh', attempt: name, requestId, begunAt: new Date(), isRepeat: false });
      }
      if (found.bodyHash !== bodyHash) return Promise.resolve({ kind: 'mismatch' });
      return Promise.resolve(found.response ? { kind: 'replay', response: found.response } : { kind: 'in_progress' });
    },
    complete: (_scope, attempt, response) => {
      const found = kept.get(attempt);
      if (found) found.response = response;
      return Promise.resolve();
    },
    suspend: () => Promise.resolve(),
    abandon: (_scope, attempt) => {
      kept.delete(attempt);
      return Promise.resolve();
    },
  };
}
