import type { ErrorCode } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { parsePosition } from '../../domain/event.ts';
import { findJsonFlaw } from '../../domain/json-flaw.ts';
import { enforceAccess, requestFacts } from './access.ts';
import { admit } from './admit.ts';
import type { CompiledRoute } from './compile-route.ts';
import { bodyRefusal, queryRefusal } from './compile-route.ts';
import type { Cors } from './cors.ts';
import type { createDoors } from './doors.ts';
import type { Exchange } from './exchange.ts';
import { enforceGate, isHidden } from './gate.ts';
import type { HttpDependencies, RefusedKey, ReplicaRouting } from './http-dependencies.ts';
import type { IdempotencyScope } from './idempotency.ts';
import { withIdempotency } from './idempotency.ts';
import { PROBES } from './probes.ts';
import { parseQuery } from './query-string.ts';
import { parseJson, readBody, requireJsonType, requireMediaType } from './read-body.ts';
import type { Answer } from './route.ts';
import type { RouteTable } from './route-table.ts';
import { refuseDisabledHost, resolveTenant } from './tenant.ts';

/** How long a write waits for its read models, and a read for the position it names (spec 4, general rules). */
const COMMIT_WAIT_MS = 5000;
const MIN_POSITION_WAIT_MS = 2000;

/** The read model that a replica of the database answers from. */
const ON_REPLICA = 'content';

const HOST = /^[A-Za-z0-9.:[\]-]+$/;

/** What every request of one listener shares. */
export type Serving = {
  readonly api: 'admin' | 'content';
  readonly table: RouteTable<CompiledRoute>;
  readonly cors: Cors;
  readonly cookieName: string;
  readonly doors: ReturnType<typeof createDoors>;
  readonly dependencies: HttpDependencies;
};

/**
 * The way of a request, in the order of refusals: unknown path, method, credential, role, tenant, path ids, body, query, then the
 * handler and the wait for its commit.
 * @throws the refusal that becomes the answer
 */
export async function respond(exchange: Exchange, serving: Serving): Promise<Answer> {
  const { dependencies } = serving;
  serving.doors?.({ host: exchange.request.headers.host, address: exchange.clientAddress, isProbe: PROBES.has(exchange.path) });
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
  compiled.limiter?.take(exchange.clientAddress, dependencies.now());

  const proved = await authenticate(exchange, serving);
  if (proved?.kind === 'refused_key') exchange.refusedKey = proved;
  else exchange.principal = proved;
  enforceAccess(compiled, exchange.principal, { path: exchange.path, csrf: exchange.header('x-csrf-token') }, dependencies);
  const admitting = admit(exchange, compiled, dependencies);
  if (admitting) await admitting;
  exchange.recheck = () => proveAgain(exchange, compiled, serving);
  const tenant = resolveTenant(exchange.principal, request.headers, dependencies);
  exchange.tenant = typeof tenant === 'string' ? tenant : await tenant;
  if (route.feature !== undefined) enforceGate(route, route.feature, exchange.tenant, dependencies);
  refuseDisabledHost(route, exchange.tenant, dependencies);

  exchange.params = readParams(compiled, match.values);
  if (route.precheck) await route.precheck(exchange);
  const bytes = compiled.checkBody ?? route.rawBody ? await readRouteBody(exchange, compiled, dependencies) : undefined;
  exchange.query = readQuery(compiled, exchange.queryText);

  const minimum = exchange.header('x-min-position');
  const position = minimum !== undefined && route.method === 'GET' ? await waitForPosition(minimum, route.reads ?? [], dependencies) : undefined;
  const { replica } = dependencies;
  if (replica && route.method === 'GET' && route.reads?.includes(ON_REPLICA)) {
    return replica.read({ tenant: exchange.tenant, minimum: position }, () => route.handler(exchange));
  }
  if (replica && route.method !== 'GET') return writeBesideReplica(replica, exchange, () => perform(exchange, compiled, bytes, dependencies));
  return perform(exchange, compiled, bytes, dependencies);
}

/** What a refused request saw of the primary, its caller must not see vanish either. */
async function writeBesideReplica(replica: ReplicaRouting, { tenant }: Exchange, work: () => Promise<Answer>): Promise<Answer> {
  let position: GlobalPosition | undefined;
  try {
    const answer = await work();
    position = answer.commit?.position;
    return answer;
  } finally {
    replica.wrote(tenant, position);
  }
}

async function perform(exchange: Exchange, { route }: CompiledRoute, bytes: Buffer | undefined, dependencies: HttpDependencies): Promise<Answer> {
  const key = route.idempotent ? exchange.header('idempotency-key') : undefined;
  const answer =
    key === undefined
      ? await route.handler(exchange)
      : await withIdempotency(
          { scope: idempotencyScope(exchange, key), bytes: bytes ?? Buffer.alloc(0), perform: () => route.handler(exchange) },
          { store: dependencies.idempotency, logger: dependencies.logger },
        );
  return answer.commit ? await waitForCommit(answer, answer.commit, dependencies) : answer;
}

async function authenticate(exchange: Exchange, { api, cookieName, dependencies }: Serving): Promise<Principal | RefusedKey | undefined> {
  const facts = requestFacts(exchange.request.headers, api, cookieName);
  if (facts.bearer === undefined && facts.apiKey === undefined && facts.sessionCookie === undefined) return undefined;
  const answered = dependencies.authenticate(facts);
  return answered instanceof Promise ? await answered : answered;
}

/** See `RouteRequest.recheck`. */
async function proveAgain(exchange: Exchange, compiled: CompiledRoute, serving: Serving): Promise<Principal | undefined> {
  const { dependencies } = serving;
  const proved = await authenticate(exchange, serving);
  const principal = proved?.kind === 'refused_key' ? undefined : proved;
  enforceAccess(compiled, principal, { path: exchange.path, csrf: exchange.header('x-csrf-token') }, dependencies);
  if ((await resolveTenant(principal, exchange.request.headers, dependencies)) !== exchange.tenant) throw refusal('authentication_required');
  return principal;
}

function readParams({ route, names, checkParams }: CompiledRoute, values: readonly string[]): unknown {
  if (names.length === 0) return {};
  const missing: ErrorCode = route.notFound ?? 'not_found';
  const params: Record<string, string> = {};
  for (let at = 0; at < names.length; at += 1) {
    const value = decodeSegment(values[at] ?? '');
    if (value.includes('\0')) throw refusal(missing);
    params[names[at] ?? ''] = value;
  }
  if (checkParams?.(params)) throw refusal(missing);
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw refusal('bad_request', { message: 'the path is not percent-encoded UTF-8', cause: error });
  }
}

async function readRouteBody(exchange: Exchange, compiled: CompiledRoute, { options }: HttpDependencies): Promise<Buffer> {
  const { request, response } = exchange;
  const { route, checkBody } = compiled;
  const malformed = route.malformedJson ?? 'invalid_json_body';
  const type = request.headers['content-type'];
  if (type !== undefined || hasBody(exchange)) {
    if (route.rawBody) requireMediaType(request, route.rawBody);
    else if (hasBody(exchange)) requireJsonType(request);
  }
  const limit = route.maxBodyBytes ?? (route.rawBody ? options.maxBodyBytes : options.maxJsonBodyBytes);
  const read = readBody(request, response, { limit, tooLarge: route.tooLarge });
  const bytes = read instanceof Promise ? await read : read;
  exchange.bytesIn = bytes.length;
  if (bytes.length === 0 && !route.bodyOptional) throw refusal(malformed);
  if (!checkBody) {
    exchange.body = bytes;
    return bytes;
  }
  const body = bytes.length === 0 ? {} : parseJson(bytes, malformed);
  const flaw = findJsonFlaw(body);
  if (flaw?.kind === 'structure') throw refusal(malformed);
  const problems = flaw ? [{ field: flaw.field, message: 'must be well-formed text without NUL', keyword: 'text' }] : checkBody(body, bytes.length);
  if (problems) throw bodyRefusal(route, problems);
  exchange.body = body;
  return bytes;
}

function hasBody({ request }: Exchange): boolean {
  const declared = request.headers['content-length'];
  return declared === undefined ? request.headers['transfer-encoding'] !== undefined : declared !== '0';
}

function readQuery({ checkQuery }: CompiledRoute, text: string): unknown {
  const query = parseQuery(text);
  const problems = checkQuery?.(query);
  if (problems) throw queryRefusal(problems);
  return query;
}

async function waitForPosition(text: string, reads: readonly string[], { progress }: HttpDependencies): Promise<GlobalPosition> {
  const position = parsePosition(text);
  if (position === undefined) throw refusal('invalid_header', { message: 'X-Min-Position must be a position as X-Commit-Position carries it' });
  if (reads.length > 0 && !(await progress.waitFor(reads, position, MIN_POSITION_WAIT_MS))) throw refusal('not_caught_up');
  return position;
}

async function waitForCommit(answer: Answer, commit: NonNullable<Answer['commit']>, { progress, logger }: HttpDependencies): Promise<Answer> {
  const headers = { ...answer.headers, 'X-Commit-Position': commit.position };
  try {
    if (await progress.waitFor(commit.readModels, commit.position, COMMIT_WAIT_MS)) return { ...answer, headers };
  } catch (error) {
    // The write is done whatever became of the read model: its answer stays a success.
    if (!hasCode(error, 'projection_stopped')) logger.error('waiting for a commit failed', { error: String(error) });
  }
  return { ...answer, headers: { ...headers, 'X-Projection-Lag': 'true' } };
}

/** Keys are scoped by tenant, route (with its ids) and caller (spec 4 A). */
function idempotencyScope({ tenant, request, path, context: { actor } }: Exchange, key: string): IdempotencyScope {
  return { tenant, route: `${request.method ?? ''} ${path}`, caller: `${actor.kind}:${actor.id}`, key };
}

function preflight({ request }: Exchange, { cors }: Serving, allow: string): Answer {
  const asked = request.headers['access-control-request-method'] !== undefined;
  const headers: Record<string, string> = { Allow: allow };
  const list = asked ? cors.preflight(request.headers.origin) : [];
  for (let at = 0; at < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? '';
  return { status: 204, headers };
}

/** With secure cookies plain http goes to https, except probes and `/.well-known/` (spec 4 A, settings). */
function redirectToHttps({ request, path }: Exchange): Answer | undefined {
  if ('encrypted' in request.socket || request.headers['x-forwarded-proto'] === 'https') return undefined;
  if (PROBES.has(path) || path.startsWith('/.well-known/')) return undefined;
  const host = request.headers.host;
  if (host === undefined || !HOST.test(host) || !request.url?.startsWith('/')) throw refusal('bad_request');
  return { status: 308, headers: { Location: `https://${host}${request.url}` } };
}
