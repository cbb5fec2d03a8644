import type { RefusedKey } from '../../application/identity/load-credential.ts';
import type { IdempotencyScope } from '../../application/ports/idempotency-store.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { credentialsOf, enforceAccess } from './access.ts';
import { admit } from './admit.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { Cors } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { enforceFeatureGate, isHidden } from './feature-gate.ts';
import type { createHostAndIpFilter } from './host-and-ip-filter.ts';
import type { HttpDependencies, ReplicaRouting } from './http-dependencies.ts';
import { withIdempotency } from './idempotency.ts';
import { PROBES } from './probes.ts';
import { readParams, readQuery, readRouteBody } from './read-request.ts';
import { refuseDisabledHost, resolveTenant } from './request-tenant.ts';
import type { RouteTable } from './route-table.ts';
import type { RouteResponse } from './route.ts';
import type { UnsentBytes } from './unsent-bytes.ts';
import { waitForCommit, waitForPosition } from './wait-for-read-models.ts';

/** The read model whose reads a replica of the database may serve. */
const REPLICATED_READ_MODEL = 'content';

/** Time in milliseconds that a body may take before its request is checked again. Most bodies arrive with the head. */
const PROMPT_BODY_MS = 10;

const HOST = /^[A-Za-z0-9.:[\]-]+$/;

/** What all requests of one listener share. */
export type Serving = {
  readonly api: 'admin' | 'content';
  readonly table: RouteTable<CompiledRoute>;
  readonly cors: Cors;
  readonly cookieName: string;
  readonly hostAndIpFilter: ReturnType<typeof createHostAndIpFilter>;
  readonly unsent: UnsentBytes;
  readonly dependencies: HttpDependencies;
};

/**
 * Responds to a request. The order of the checks decides which refusal the caller gets: host and client address, path,
 * method, limit per client address; credential, CSRF token, scope, grant or role, monthly limit; tenant, feature and
 * capability, disabled tenant, ids in the path; the route's `consume` and `precheck`; body, query; position of
 * `X-Min-Position`. Then the handler runs, and its commit is awaited. Plain HTTP is redirected after the first check.
 * @throws the refusal that the caller gets
 */
export async function respond(exchange: Exchange, serving: Serving): Promise<RouteResponse> {
  const { dependencies } = serving;
  serving.hostAndIpFilter?.({
    host: exchange.request.headers.host,
    address: exchange.clientAddress,
    isProbe: PROBES.has(exchange.path),
  });
  const redirect = dependencies.options.secure ? redirectToHttps(exchange) : undefined;
  if (redirect) return redirect;

  const { request } = exchange;
  const match = serving.table.find(exchange.path);
  if (!match || isHidden(match.methods, dependencies)) throw refusal('endpoint_not_found');
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const compiled = match.methods.get(method);
  if (!compiled) {
    if (method === 'OPTIONS') return preflight(exchange, serving, match.allow);
    throw refusal('method_not_allowed', { headers: { Allow: match.allow } });
  }
  exchange.compiled = compiled;
  const { route } = compiled;
  compiled.limiter?.take(exchange.clientNetwork, dependencies.now());

  const authenticated = await authenticate(exchange, serving);
  if (authenticated?.kind === 'refused_key') exchange.refusedKey = authenticated;
  else exchange.principal = authenticated;
  enforceAccess(
    compiled,
    exchange.principal,
    { path: exchange.path, csrf: exchange.header('x-csrf-token') },
    dependencies,
  );
  const admission = admit(exchange, compiled, dependencies);
  if (admission) await admission;
  exchange.recheck = () => authenticateAgain(exchange, compiled, serving);
  const tenant = resolveTenant(exchange.principal, request.headers, dependencies);
  exchange.tenant = typeof tenant === 'string' ? tenant : await tenant;
  dependencies.useShareOf?.(exchange.tenant);
  const { feature, capability } = route;
  if (feature !== undefined) enforceFeatureGate({ feature, capability, tenant: exchange.tenant }, dependencies);
  refuseDisabledHost(route, exchange.tenant, dependencies);

  exchange.params = readParams(compiled, match.values);
  if (route.consume) await route.consume(exchange);
  if (route.precheck) exchange.checked = await route.precheck(exchange);
  const checkedAt = performance.now();
  const bytes =
    (compiled.checkBody ?? route.rawBody) ? await readRouteBody(exchange, compiled, dependencies) : undefined;
  if (bytes && performance.now() - checkedAt > PROMPT_BODY_MS) {
    // The client chooses when its body arrives. Meanwhile credential, access and content type may have changed.
    exchange.principal = await exchange.recheck();
    if (route.precheck) exchange.checked = await route.precheck(exchange);
  }
  exchange.query = readQuery(compiled, exchange.queryText);

  const minimum = exchange.header('x-min-position');
  const position =
    minimum !== undefined && route.method === 'GET'
      ? await waitForPosition(minimum, route.reads ?? [], dependencies)
      : undefined;
  const { replica } = dependencies;
  if (replica && route.method === 'GET' && route.reads?.includes(REPLICATED_READ_MODEL)) {
    return replica.read({ tenant: exchange.tenant, minimum: position }, () => route.handler(exchange));
  }
  if (replica && route.method !== 'GET')
    return writeBesideReplica(replica, exchange, () => perform(exchange, compiled, bytes, dependencies));
  return perform(exchange, compiled, bytes, dependencies);
}

/**
 * Does a write and reports it to the replica routing, also after a refusal: the refusal may reveal rows of the primary
 * that the caller must be able to read afterwards.
 */
async function writeBesideReplica(
  replica: ReplicaRouting,
  { tenant }: Exchange,
  work: () => Promise<RouteResponse>,
): Promise<RouteResponse> {
  let position: GlobalPosition | undefined;
  try {
    const response = await work();
    position = response.commit?.position;
    return response;
  } finally {
    replica.wrote(tenant, position);
  }
}

async function perform(
  exchange: Exchange,
  { route }: CompiledRoute,
  bytes: Buffer | undefined,
  dependencies: HttpDependencies,
): Promise<RouteResponse> {
  exchange.isHandling = true;
  const key = route.idempotent ? exchange.header('idempotency-key') : undefined;
  const response =
    key === undefined
      ? await route.handler(exchange)
      : await withIdempotency(
          {
            scope: idempotencyScope(exchange, key),
            requestId: exchange.requestId,
            bytes: bytes ?? Buffer.alloc(0),
            perform: (context) => {
              exchange.context = { ...exchange.context, ...context };
              return route.handler(exchange);
            },
          },
          { store: dependencies.idempotency, logger: dependencies.logger },
        );
  return response.commit ? await waitForCommit(response, response.commit, dependencies) : response;
}

async function authenticate(
  exchange: Exchange,
  { api, cookieName, dependencies }: Serving,
): Promise<Principal | RefusedKey | undefined> {
  const credentials = credentialsOf(exchange.request.headers, api, cookieName);
  const { bearer, apiKey, sessionCookie } = credentials;
  if (bearer === undefined && apiKey === undefined && sessionCookie === undefined) return undefined;
  const authenticated = dependencies.authenticate(credentials);
  return authenticated instanceof Promise ? await authenticated : authenticated;
}

/** Implements `RouteRequest.recheck`. */
async function authenticateAgain(
  exchange: Exchange,
  compiled: CompiledRoute,
  serving: Serving,
): Promise<Principal | undefined> {
  const { dependencies } = serving;
  const authenticated = await authenticate(exchange, serving);
  const principal = authenticated?.kind === 'refused_key' ? undefined : authenticated;
  enforceAccess(compiled, principal, { path: exchange.path, csrf: exchange.header('x-csrf-token') }, dependencies);
  if ((await resolveTenant(principal, exchange.request.headers, dependencies)) !== exchange.tenant)
    throw refusal('authentication_required');
  return principal;
}

/** An idempotency key is valid for one tenant, method and path (with its ids), and caller. */
function idempotencyScope({ tenant, request, path, context: { actor } }: Exchange, key: string): IdempotencyScope {
  return { tenant, route: `${request.method ?? ''} ${path}`, caller: `${actor.kind}:${actor.id}`, key };
}

/** Responds to OPTIONS with `Allow`, and a preflight request also with its CORS headers. */
function preflight({ request }: Exchange, { cors }: Serving, allow: string): RouteResponse {
  const isPreflight = request.headers['access-control-request-method'] !== undefined;
  const headers: Record<string, string> = { Allow: allow };
  const list = isPreflight ? cors.preflight(request.headers.origin) : [];
  for (let at = 0; at < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? '';
  return { status: 204, headers };
}

/** With `SECURE_COOKIE`, redirects plain HTTP to HTTPS, except for probes and `/.well-known/`. */
function redirectToHttps({ request, path }: Exchange): RouteResponse | undefined {
  if ('encrypted' in request.socket || request.headers['x-forwarded-proto'] === 'https') return undefined;
  if (PROBES.has(path) || path.startsWith('/.well-known/')) return undefined;
  const host = request.headers.host;
  if (host === undefined || !HOST.test(host) || !request.url?.startsWith('/')) throw refusal('bad_request');
  return { status: 308, headers: { Location: `https://${host}${request.url}` } };
}
