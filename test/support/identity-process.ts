import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { identityRoutes } from '../../api/admin/identity/identity-routes.ts';
import { authRoutes } from '../../api/content/auth-routes.ts';
import type { HttpDependencies } from '../../api/http/http-dependencies.ts';
import { type Route, route } from '../../api/http/route.ts';
import { type Authenticator, openAuthenticator } from '../../application/identity/authenticator.ts';
import type { MagicLinkOptions } from '../../application/identity/magic-link-options.ts';
import { createTenantDirectory } from '../../application/identity/tenant-directory.ts';
import { type Entitlements, FREE_TIER } from '../../application/ports/entitlements.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Mail } from '../../application/ports/mailer.ts';
import type { Signals } from '../../application/ports/signals.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import { keyRefusal } from '../../domain/identity/scopes.ts';
import type { ProtectionLimits } from '../../domain/traffic/protections.ts';
import { createSignInGuards } from '../../infrastructure/composition/identity/create-sign-in-guards.ts';
import { createSignInLinks } from '../../infrastructure/composition/identity/create-sign-in-links.ts';
import type { IdentityServices } from '../../infrastructure/composition/identity/open-identity.ts';
import { deriveKey } from '../../infrastructure/crypto/derive-key.ts';
import { createKeyHasher } from '../../infrastructure/crypto/key-hasher.ts';
import { openPasswords } from '../../infrastructure/crypto/passwords.ts';
import { randomSecrets } from '../../infrastructure/crypto/random-secrets.ts';
import { createSessionTokens } from '../../infrastructure/crypto/session-tokens.ts';
import type { SigningKeys } from '../../infrastructure/crypto/signing-keys.ts';
import { createVault } from '../../infrastructure/crypto/vault.ts';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { type ApiKeyRequestLog, openApiKeyRequests } from '../../infrastructure/identity/api-key-requests.ts';
import { openIdentityChanges } from '../../infrastructure/identity/identity-changes.ts';
import { createLruCache } from '../../infrastructure/identity/lru-cache.ts';
import { createSessions } from '../../infrastructure/identity/sessions.ts';
import { createClaims } from '../../infrastructure/postgres/claims.ts';
import { openDatabase } from '../../infrastructure/postgres/database.ts';
import { createExclusive } from '../../infrastructure/postgres/exclusive.ts';
import { createRateCounters } from '../../infrastructure/postgres/rate-counters.ts';
import { openInProcessSignals } from '../../infrastructure/signals/in-process.ts';
import { identityProjection } from '../../projections/identity/projection.ts';
import { createIdentityQueries } from '../../projections/identity/queries.ts';
import { type TestDatabase, useDatabase } from './database.ts';
import { type Call, caller } from './http.ts';
import { SETUP_TOKEN, type Session, setUpOwner as createOwner } from './owner.ts';
import { HIGH_SIGN_IN_LIMITS } from './protections.ts';
import { recordingLogger } from './recording-logger.ts';
import { recordingMailer } from './recording-mailer.ts';
import { serve } from './serve-routes.ts';
import { createTestEngine } from './test-engine.ts';

export const OWNER = { email: 'Owner@Palimpsest.test', password: 'Correct-Horse-7-battery' } as const;
const ENCRYPTION_KEY = '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70';

/** The key of claims: the same as in a service with the environment of the tests. */
export function claimsKey(): Uint8Array {
  return deriveKey(ENCRYPTION_KEY, 'claims');
}

/** A signing key for tests; a service reads its keys from the key file. */
const SIGNING_KEYS: SigningKeys = [
  {
    kty: 'OKP',
    crv: 'Ed25519',
    kid: 'test',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  },
];

export type IdentityProcess = {
  readonly admin: Call;
  readonly content: Call;
  readonly dependencies: IdentityServices;
  readonly authenticator: Authenticator;
  readonly requests: ApiKeyRequestLog;
  readonly eventStore: EventStore;
  readonly engine: ReturnType<typeof createTestEngine>;
  /** Mails that this process sent. */
  readonly mails: readonly Mail[];
  /** The clock of this process. */
  now(): Date;
  /** Advances the clock. */
  advance(ms: number): void;
  stop(): Promise<void>;
};

export type ProcessOptions = {
  readonly url: string;
  readonly signals?: Signals;
  readonly entitlements?: Entitlements;
  readonly expirySeconds?: number;
  /** Limits of sign-ins. Default: limits that no test reaches. */
  readonly protections?: ProtectionLimits;
  /** Settings of magic links. Default: those of the service. */
  readonly magicLinks?: Partial<MagicLinkOptions>;
  /** Replacements of real dependencies. */
  readonly replaced?: Partial<IdentityServices>;
};

const MAGIC_LINKS: MagicLinkOptions = {
  ttlSeconds: 600,
  autoCreate: false,
  autoCreateRoles: [],
  allowedHosts: [],
  requireResolvedTenant: false,
};

/** Content API routes that tests call with keys, for reads and writes, and a public route. */
const probes: readonly Route[] = [
  ...(['GET', 'POST', 'DELETE'] as const).map((method) =>
    route({
      api: 'content',
      method,
      path: '/api/v1/content/{schema}',
      operation: `probe${method}`,
      summary: 'probe',
      tag: 'content',
      access: { kind: 'credential', ...(method === 'GET' ? {} : { roles: ['editor', 'admin', 'super_admin'] }) },
      responses: { 200: null },
      handler: ({ principal, tenant }) =>
        Promise.resolve({ status: 200, body: { kind: principal?.kind ?? '', tenant } }),
    }),
  ),
  route({
    api: 'content',
    method: 'GET',
    path: '/api/v1/public',
    operation: 'probePublic',
    summary: 'probe',
    tag: 'content',
    access: { kind: 'public' },
    responses: { 200: null },
    handler: ({ tenant }) => Promise.resolve({ status: 200, body: { tenant } }),
  }),
];

/** Starts one process with everything that identity needs, on real Postgres and HTTP. bcrypt has cost 4, for speed. */
export async function startIdentity({
  url,
  signals = openInProcessSignals(),
  entitlements = FREE_TIER,
  expirySeconds = 900,
  protections = HIGH_SIGN_IN_LIMITS,
  magicLinks = {},
  replaced = {},
}: ProcessOptions): Promise<IdentityProcess> {
  const database = openDatabase({ url, maxConnections: 10 });
  const eventStore = await openPostgresEventStore({ database });
  const engine = createTestEngine({ database, eventStore, projections: [identityProjection], signals });
  await engine.prepare();
  engine.start();
  let advancedMs = 0;
  const now = () => new Date(Date.now() + advancedMs);
  const vault = createVault({ database, encryptionKey: ENCRYPTION_KEY });
  const reads = createIdentityQueries({ database });
  const requests = openApiKeyRequests({ database, vault, logger: recordingLogger(), newId: v7, now });
  const passwords = openPasswords({ cost: 4, threads: 2 });
  const changes = openIdentityChanges({ lastChange: () => reads.lastChange(), progress: engine.progress });
  const tenants = createTenantDirectory({ reads, progress: engine.progress, changes, onError: () => undefined });
  await tenants.start();
  const mailer = recordingMailer();
  const dependencies: IdentityServices = {
    eventStore,
    vault,
    reads,
    passwords,
    changes,
    tenants,
    entitlements,
    claims: createClaims({ database, key: claimsKey() }),
    sessions: createSessions({ database }),
    tokens: createSessionTokens({
      keys: { current: () => SIGNING_KEYS, reread: () => Promise.resolve(false) },
      expirySeconds,
    }),
    secrets: randomSecrets,
    mailer,
    ...createSignInLinks({ database, magicLinkOptions: { ...MAGIC_LINKS, ...magicLinks } }),
    ...createSignInGuards({
      database,
      rateCounters: createRateCounters({ database, key: Buffer.from('rate counters') }),
      logger: recordingLogger(),
      protections,
    }),
    consoleUrl: 'https://console.palimpsest.test',
    exclusive: createExclusive({ database }),
    progress: engine.progress,
    passwordPolicy: { minLength: 12, requireComplexity: true, maxBytes: 72 },
    refreshTtlSeconds: 2_592_000,
    apiKeyRequests: requests,
    hashCredential: createKeyHasher({ pepper: 'pepper' }),
    isSetupToken: (presented) => equalSecrets(presented, SETUP_TOKEN),
    ...replaced,
  };
  const authenticator = openAuthenticator({ ...dependencies, now, newCache: createLruCache });
  const overrides: Partial<HttpDependencies> = {
    now,
    authenticate: authenticator.authenticate,
    checkKeyScope: keyRefusal,
    admitKeyRequest: requests.admit,
    recordKeyRequest: requests.record,
    progress: engine.progress,
    tenantState: (slug) => tenants.state(slug),
    tenantOfHost: (host) => tenants.ofHost(host),
  };
  const routes: readonly Route[] = [
    ...identityRoutes({ ...dependencies, routes: () => routes, secureCookie: false, readModels: ['identity'] }),
    ...authRoutes(dependencies),
    ...probes,
  ];
  const served = await serve(routes, {}, overrides);
  return {
    admin: caller(() => served.admin.url),
    content: caller(() => served.content.url),
    dependencies,
    authenticator,
    requests,
    eventStore,
    engine,
    mails: mailer.mails,
    now,
    advance: (ms) => {
      advancedMs += ms;
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

/** Starts a process with its own database for the enclosing `describe`. */
export function useIdentity(options: Omit<ProcessOptions, 'url'> = {}): {
  readonly database: TestDatabase;
  readonly process: () => IdentityProcess;
  readonly admin: Call;
  readonly content: Call;
} {
  let running: IdentityProcess | undefined;
  // Hooks run in the order of their registration: the process stops before its database is dropped.
  after(() => running?.stop());
  const database = useDatabase();
  const current = (): IdentityProcess => {
    if (!running) throw new Error('the process runs only inside tests and hooks');
    return running;
  };
  before(async () => {
    running = await startIdentity({ url: database.url(), ...options });
  });
  return {
    database,
    process: current,
    admin: (...call) => current().admin(...call),
    content: (...call) => current().content(...call),
  };
}

/** As `useIdentity`, with the first account. The members of its session `owner` exist only inside tests and hooks. */
export function useOwnedIdentity(
  options: Omit<ProcessOptions, 'url'> = {},
): ReturnType<typeof useIdentity> & { readonly owner: Session } {
  const identity = useIdentity(options);
  let session: Session | undefined;
  before(async () => {
    session = await setUpOwner(identity.admin);
  });
  const current = (): Session => {
    if (!session) throw new Error('the first account exists only inside tests and hooks');
    return session;
  };
  return {
    ...identity,
    owner: {
      get token() {
        return current().token;
      },
      get csrf_token() {
        return current().csrf_token;
      },
      get refresh_token() {
        return current().refresh_token;
      },
      get expires_in() {
        return current().expires_in;
      },
      get user() {
        return current().user;
      },
    },
  };
}

/**
 * Starts two processes on one database for the enclosing `describe`. They share `signals` if given; otherwise no signal
 * of one process reaches the other.
 */
export function useIdentityPair(options: Omit<ProcessOptions, 'url'> = {}): {
  readonly database: TestDatabase;
  readonly processes: () => readonly [IdentityProcess, IdentityProcess];
} {
  const running: IdentityProcess[] = [];
  // Hooks run in the order of their registration: the processes stop before their database is dropped.
  after(async () => {
    for (const process of running) await process.stop();
  });
  const database = useDatabase();
  before(async () => {
    for (let n = 0; n < 2; n += 1) running.push(await startIdentity({ url: database.url(), ...options }));
  });
  return {
    database,
    processes: () => {
      const [first, second] = running;
      if (!first || !second) throw new Error('the processes run only inside tests and hooks');
      return [first, second];
    },
  };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Creates the first account and returns its session. */
export const setUpOwner = (admin: Call): Promise<Session> => createOwner(admin, OWNER);

/** Creates an account for one test. */
export async function newUser(
  admin: Call,
  owner: Session,
  roles: readonly string[] = ['editor'],
): Promise<{ readonly id: string; readonly email: string; readonly password: string }> {
  const [email, password] = [`${randomUUID()}@palimpsest.test`, 'Another-Good-Pass-1'];
  const reply = await admin('POST', '/api/admin/users', { email, password, roles }, bearer(owner.token));
  if (reply.status !== 201) throw new Error(reply.text);
  return { id: reply.json<{ id: string }>().id, email, password };
}

export async function signInAs(
  admin: Call,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<Session> {
  const reply = await admin('POST', '/api/admin/auth/login', { email, password });
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.json<Session>();
}
