import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { contentAuthRoutes } from '../../../api/content/auth.ts';
import { identityRoutes } from '../../../api/admin/identity/identity-routes.ts';
import type { HttpDependencies } from '../../../api/http/http-dependencies.ts';
import type { Route } from '../../../api/http/route.ts';
import { route } from '../../../api/http/route.ts';
import type { Authenticator } from '../../../application/identity/authenticate.ts';
import { createAuthenticator } from '../../../application/identity/authenticate.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import type { MagicLinkOptions } from '../../../application/identity/magic-link-dependencies.ts';
import { createTenantDirectory } from '../../../application/identity/tenant-directory.ts';
import type { Mail } from '../../../application/ports/mailer.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import { FREE_TIER } from '../../../application/ports/entitlements.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Signals } from '../../../application/ports/signals.ts';
import { keyRefusal } from '../../../domain/identity/scopes.ts';
import { equalSecrets } from '../../../infrastructure/crypto/equal-secrets.ts';
import { createKeyHasher } from '../../../infrastructure/crypto/key-hasher.ts';
import { createPasswords } from '../../../infrastructure/crypto/passwords.ts';
import { randomSecrets } from '../../../infrastructure/crypto/random-secrets.ts';
import { createSessionTokens } from '../../../infrastructure/crypto/session-tokens.ts';
import type { SigningKeys } from '../../../infrastructure/crypto/signing-keys.ts';
import { deriveKey } from '../../../infrastructure/crypto/derive-key.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import type { ApiKeyRequestLog } from '../../../infrastructure/identity/api-key-requests.ts';
import { createApiKeyRequests } from '../../../infrastructure/identity/api-key-requests.ts';
import { createCredentialCache } from '../../../infrastructure/identity/credential-cache.ts';
import { createExclusive } from '../../../infrastructure/identity/exclusive.ts';
import { watchIdentityChanges } from '../../../infrastructure/identity/identity-changes.ts';
import { createSessionStore } from '../../../infrastructure/identity/session-store.ts';
import { composeSignInGuards } from '../../../infrastructure/composition/sign-in-guards.ts';
import { composeSignInLinks } from '../../../infrastructure/composition/sign-in-links.ts';
import { createRateCounters } from '../../../infrastructure/postgres/rate-counters.ts';
import type { ProtectionLimits } from '../../../domain/traffic/protections.ts';
import { ROOMY } from '../../support/protections.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { createInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { identityProjection } from '../../../projections/identity/projection.ts';
import { createIdentityQueries } from '../../../projections/identity/queries.ts';
import type { Call, Reply } from '../../support/http.ts';
import { caller } from '../../support/http.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { recordingMailer } from '../../support/recording-mailer.ts';
import { useDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { serve } from '../http/serving.ts';
import { engineOf } from '../../projections/engine/rig.ts';

export const SETUP_TOKEN = 'a-setup-token-for-tests';
export const OWNER = { email: 'Owner@Palimpsest.test', password: 'Correct-Horse-7-battery' } as const;
const ENCRYPTION_KEY = '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70';

/** Under what the rig claims unique values; the same as a service with the tests' environment. */
export function claimsKey(): Uint8Array {
  return deriveKey(ENCRYPTION_KEY, 'claims');
}

/** A key of the tests; real ones come from the key file. */
export const SIGNING_KEYS: SigningKeys = [{
  kty: 'OKP', crv: 'Ed25519', kid: 'test', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
}];

export type IdentityProcess = {
  readonly admin: Call;
  readonly content: Call;
  readonly dependencies: IdentityDependencies;
  readonly authenticator: Authenticator;
  readonly requests: ApiKeyRequestLog;
  readonly eventStore: EventStore;
  readonly engine: ReturnType<typeof engineOf>;
  /** Mails that this process sent. */
  readonly mails: readonly Mail[];
  /** The clock of this process. */
  now(): Date;
  /** Moves it. */
  advance(ms: number): void;
  stop(): Promise<void>;
};

export type ProcessOptions = {
  readonly url: string;
  readonly signals?: Signals;
  readonly entitlements?: Entitlements;
  readonly expirySeconds?: number;
  /** Limits of the protections. Default: sign-ins in plenty. */
  readonly protections?: ProtectionLimits;
  /** Settings of magic links. Default: as they ship. */
  readonly magicLinks?: Partial<MagicLinkOptions>;
  /** What stands in place of the real parts. */
  readonly replaced?: Partial<IdentityDependencies>;
};

const MAGIC_LINKS: MagicLinkOptions = { ttlSeconds: 600, autoCreate: false, autoCreateRoles: [], allowedHosts: [], requireResolvedTenant: false };

/** Routes of the Content API to try keys on, of which some write; and one for anyone. */
const probes: readonly Route[] = [...(['GET', 'POST', 'DELETE'] as const).map((method) => route({
  api: 'content', method, path: '/api/v1/content/{schema}', operation: `probe${method}`, summary: 'probe', tag: 'content',
  access: { kind: 'credential', ...(method === 'GET' ? {} : { roles: ['editor', 'admin', 'super_admin'] }) },
  answers: { 200: null }, handler: ({ principal, tenant }) => Promise.resolve({ status: 200, body: { kind: principal?.kind ?? '', tenant } }),
})), route({
  api: 'content', method: 'GET', path: '/api/v1/public', operation: 'probePublic', summary: 'probe', tag: 'content', access: { kind: 'public' },
  answers: { 200: null }, handler: ({ tenant }) => Promise.resolve({ status: 200, body: { tenant } }),
})];

/** One process of the install with everything that identity needs, on real Postgres and real HTTP. bcrypt at cost 4. */
export async function startIdentity({ url, signals = createInProcessSignals(), entitlements = FREE_TIER, expirySeconds = 900, protections = ROOMY, magicLinks = {}, replaced = {} }: ProcessOptions): Promise<IdentityProcess> {
  const database = openDatabase({ url, maxConnections: 10 });
  const eventStore = await openPostgresEventStore({ database });
  const engine = engineOf({ database, source: eventStore, projections: [identityProjection], signals });
  await engine.prepare();
  engine.start();
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  const vault = createVault({ database, encryptionKey: ENCRYPTION_KEY });
  const reads = createIdentityQueries(database);
  const requests = createApiKeyRequests({ database, vault, logger: recordingLogger(), newId: v7, now });
  const passwords = createPasswords({ cost: 4, threads: 2 });
  const changes = watchIdentityChanges({ lastChange: reads.lastChange, progress: engine.progress });
  const tenants = createTenantDirectory({ reads, progress: engine.progress, changes, onError: () => undefined });
  await tenants.start();
  const mailer = recordingMailer();
  const dependencies: IdentityDependencies = {
    eventStore, vault, reads, passwords, changes, tenants, entitlements,
    claims: createClaims({ database, key: claimsKey() }),
    sessions: createSessionStore({ database }),
    tokens: createSessionTokens({ keys: { current: () => SIGNING_KEYS, reread: () => Promise.resolve(false) }, expirySeconds }),
    secrets: randomSecrets,
    mailer,
    ...composeSignInLinks({ database, magicLinkOptions: { ...MAGIC_LINKS, ...magicLinks } }),
    ...composeSignInGuards({ database, rateCounters: createRateCounters({ database, key: Buffer.from('rate counters') }), logger: recordingLogger(), protections }),
    consoleUrl: 'https://console.palimpsest.test',
    exclusive: createExclusive({ database }),
    progress: engine.progress,
    passwordPolicy: { minLength: 12, requireComplexity: true, maxBytes: 72 },
    refreshTtlSeconds: 2_592_000,
    apiKeyRequests: requests,
    hashApiKey: createKeyHasher('pepper'),
    isSetupToken: (presented) => equalSecrets(presented, SETUP_TOKEN),
    ...replaced,
  };
  const authenticator = createAuthenticator({ ...dependencies, now, newCache: createCredentialCache });
  const overrides: Partial<HttpDependencies> = {
    now, authenticate: authenticator.authenticate, checkKeyScope: keyRefusal, admitKeyRequest: requests.admit, recordKeyRequest: requests.record, progress: engine.progress,
    tenantState: (slug) => tenants.state(slug), tenantOfHost: (host) => tenants.ofHost(host),
  };
  const routes: readonly Route[] = [...identityRoutes({ ...dependencies, routes: () => routes, secureCookie: false, readModels: ['identity'] }), ...contentAuthRoutes(dependencies), ...probes];
  const served = await serve(routes, {}, overrides);
  return {
    admin: caller(() => served.admin.url),
    content: caller(() => served.content.url),
    dependencies, authenticator, requests, eventStore, engine,
    mails: mailer.mails,
    now,
    advance: (ms) => {
      ahead += ms;
    },
    async stop() {
      await Promise.all([served.admin.close({ deadlineMs: 500 }), served.content.close({ deadlineMs: 500 })]);
      authenticator.close();
      tenants.close();
      changes.close();
      await requests.close();
      await engine.stop();
      await eventStore.close();
      await passwords.close();
      await database.close();
    },
  };
}

/** A process for the enclosing `describe`, on a database of its own. */
export function useIdentity(options: Omit<ProcessOptions, 'url'> = {}): { readonly database: TestDatabase; readonly process: () => IdentityProcess; readonly admin: Call; readonly content: Call } {
  let running: IdentityProcess | undefined;
  // Hooks run in the order of their registration: the process stops before its database goes.
  after(() => running?.stop());
  const database = useDatabase();
  const current = (): IdentityProcess => {
    if (!running) throw new Error('the process is there inside tests and hooks only');
    return running;
  };
  before(async () => {
    running = await startIdentity({ url: database.url(), ...options });
  });
  return { database, process: current, admin: (...call) => current().admin(...call), content: (...call) => current().content(...call) };
}

export type Session = { readonly token: string; readonly csrf_token: string; readonly refresh_token: string; readonly expires_in: number; readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] } };

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Status and message of a refusal. */
export function refused(reply: Reply): readonly [number, string | undefined] {
  return [reply.status, reply.json<{ error?: string }>().error];
}

/** Makes the first account and answers its session. */
export async function setUpOwner(admin: Call): Promise<Session> {
  const reply = await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json<Session>();
}

/** An account nobody else uses. */
export async function newUser(admin: Call, owner: Session, roles: readonly string[] = ['editor']): Promise<{ readonly id: string; readonly email: string; readonly password: string }> {
  const [email, password] = [`${randomUUID()}@palimpsest.test`, 'Another-Good-Pass-1'];
  const reply = await admin('POST', '/api/admin/users', { email, password, roles }, bearer(owner.token));
  if (reply.status !== 201) throw new Error(reply.text);
  return { id: reply.json<{ id: string }>().id, email, password };
}

export async function signInAs(admin: Call, { email, password }: { readonly email: string; readonly password: string }): Promise<Session> {
  const reply = await admin('POST', '/api/admin/auth/login', { email, password });
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.json<Session>();
}
