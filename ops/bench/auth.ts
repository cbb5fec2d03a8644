import { v7 } from 'uuid';
import { enforceAccess } from '../../api/http/access.ts';
import { recordedCredential } from '../../api/http/admit.ts';
import { compileRoute } from '../../api/http/compile-route.ts';
import { route } from '../../api/http/route.ts';
import { openAuthenticator } from '../../application/identity/authenticator.ts';
import type { ApiKeyRecord } from '../../application/ports/identity-reads.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { keyRefusal } from '../../domain/identity/scopes.ts';
import { createKeyHasher } from '../../infrastructure/crypto/key-hasher.ts';
import { randomSecrets } from '../../infrastructure/crypto/random-secrets.ts';
import { createVault } from '../../infrastructure/crypto/vault.ts';
import { openApiKeyRequests } from '../../infrastructure/identity/api-key-requests.ts';
import { createLruCache } from '../../infrastructure/identity/lru-cache.ts';
import { openDatabase } from '../../infrastructure/postgres/database.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import type { Figure } from './report.ts';

/** Target: largest cost of the checks per request, in microseconds. */
const MOST = 200;
const ROUNDS = 50_000;
/** Requests per turn of the event loop. Batches of request records are written between the turns. */
const TURN = 50;

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};
const refused = () => Promise.reject(new Error('not used by this bench'));

/** A route with the checks of an entry list. */
const compiled = compileRoute(
  route({
    api: 'content',
    method: 'GET',
    path: '/api/v1/content/{schema}',
    operation: 'list',
    summary: 'list',
    tag: 'content',
    access: { kind: 'credential' },
    responses: { 200: null },
    handler: () => Promise.resolve({ status: 200 }),
  }),
);

/**
 * Measures in process the CPU time that an API key adds to a request: the cached authentication, scope, content types,
 * monthly limit, and the request record including its share of the batches that are written to the database.
 */
export async function authCost({ databaseUrl }: { readonly databaseUrl: string }): Promise<readonly Figure[]> {
  const database = openDatabase({ url: databaseUrl });
  await migrate(database);
  const vault = createVault({ database, encryptionKey: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70' });
  const now = () => new Date();
  const requests = openApiKeyRequests({ database, vault, logger: quiet, newId: v7, now, maxQueued: 4 * ROUNDS });
  const hashCredential = createKeyHasher({ pepper: 'a-pepper-for-benches' });
  const figures: Figure[] = [];
  for (const [name, monthlyLimit] of [
    ['without a monthly limit', 0],
    ['with a monthly limit', 1_000 * ROUNDS],
  ] as const) {
    const raw = randomSecrets.apiKey();
    const key: ApiKeyRecord = {
      id: v7(),
      tenant: 'default',
      name,
      prefix: '',
      scopes: ['content:read'],
      roles: ['reader'],
      schemas: ['article'],
      enabled: true,
      expiresAt: null,
      monthlyLimit,
      createdAt: now(),
    };
    const authenticator = openAuthenticator({
      reads: {
        apiKeyByHash: () => Promise.resolve({ ...key, secretUntil: null }),
        adminTokenByHash: refused,
        userById: refused,
      },
      sessions: { isOpen: refused },
      tokens: { verify: refused },
      vault,
      hashCredential,
      now,
      newCache: createLruCache,
      changes: { onChange: () => () => undefined },
    });
    const once = async (): Promise<void> => {
      const answered = authenticator.authenticate({
        api: 'content',
        bearer: undefined,
        apiKey: raw,
        sessionCookie: undefined,
      });
      const principal = answered instanceof Promise ? await answered : answered;
      if (principal?.kind !== 'api_key') throw new Error('the API key was refused');
      enforceAccess(
        compiled,
        principal,
        { path: '/api/v1/content/article', csrf: undefined },
        { checkKeyScope: keyRefusal, tenantState: () => 'active' },
      );
      const credential = recordedCredential(principal);
      if (!credential) throw new Error('the key is recorded');
      const admitted = requests.admit(credential, now());
      const admission = admitted instanceof Promise ? await admitted : admitted;
      requests.record({
        ...credential,
        method: 'GET',
        path: '/api/v1/content/article',
        status: 200,
        ip: '192.0.2.7',
        bytesIn: 0,
        bytesOut: 2_048,
        at: now(),
        admission,
      });
    };
    for (let n = 0; n < 1_000; n += 1) await once();
    await requests.flush();
    const began = process.cpuUsage();
    for (let n = 0; n < ROUNDS; n += 1) {
      await once();
      if (n % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await requests.flush();
    const { user, system } = process.cpuUsage(began);
    figures.push({
      name: `checks of a key ${name}`,
      value: (user + system) / ROUNDS,
      unit: 'µs',
      target: { most: MOST },
      note: 'CPU time, including the request record in the database',
    });
    authenticator.close();
  }
  await requests.close();
  await database.close();
  return figures;
}
