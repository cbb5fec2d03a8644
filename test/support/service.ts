import { join } from 'node:path';
import {
  type Service,
  type StartServiceOptions,
  startService,
} from '../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { type TestDatabase, useDatabase } from './database.ts';
import { useDirectory } from './directory.ts';
import { type Call, caller } from './http.ts';
import { SETUP_TOKEN, setUpOwner } from './owner.ts';
import { HIGH_SIGN_IN_LIMITS } from './protections.ts';

/** A running service with real HTTP listeners, its own database and an owner (super_admin). */
export type TestService = {
  readonly database: TestDatabase;
  /** Its data directory. */
  readonly directory: () => string;
  service(): Service;
  /** Calls without a credential. */
  readonly admin: Call;
  readonly content: Call;
  /** Calls with the owner's session token. */
  readonly owner: Call;
  readonly ownerContent: Call;
  /** Creates an API key. @returns a client of the Content API that uses the key */
  key(options: {
    readonly roles?: readonly string[];
    readonly scopes?: readonly string[];
    readonly schemas?: readonly string[];
  }): Promise<Call>;
};

/** Settings of a service for tests. The secrets are constants, so that several processes share them. */
export function testEnvironment(databaseUrl: string, directory: string): Readonly<Record<string, string>> {
  return {
    APP_ENV: 'development',
    DATABASE_URL: databaseUrl,
    JWT_SECRET: 'f3d1c0a95b7e4826d1f0',
    ENCRYPTION_KEY: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70',
    API_KEY_PEPPER: '5f1e2d3c4b5a69788796a5b4c3d2e1f0',
    SVC_AUDIT_HMAC_KEY: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
    SVC_SETUP_TOKEN: SETUP_TOKEN,
    SVC_DATA_DIR: directory,
    JWT_KEY_PATH: join(directory, 'jwt_key.json'),
    ADMIN_LISTEN_ADDR: '127.0.0.1:0',
    API_LISTEN_ADDR: '127.0.0.1:0',
    WEBHOOK_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'error',
    LOG_FORMAT: 'json',
  };
}

export type TestServiceOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  /** Clock, timer, limits and build information, for tests that control them. */
  readonly start?: Omit<StartServiceOptions, 'settings'>;
};

/** Starts a service in this process for the enclosing `describe`, and creates its owner. */
export function useService({ environment = {}, start = {} }: TestServiceOptions = {}): TestService {
  let service: Service | undefined;
  const directory = useDirectory();
  let token = '';
  // Hooks run in the order of their registration: stop the service before its database is dropped.
  after(() => service?.stop());
  const database = useDatabase();
  const running = (): Service => {
    if (!service) throw new Error('the service runs inside tests and hooks only');
    return service;
  };
  const admin = caller(() => running().adminUrl);
  const content = caller(() => running().contentUrl);
  before(async function () {
    this.timeout(30_000);
    const layers = [environmentLayer({ ...testEnvironment(database.url(), directory()), ...environment })];
    service = await startService({
      protections: HIGH_SIGN_IN_LIMITS,
      ...start,
      settings: loadSettings(layers).settings,
      layers,
    });
    ({ token } = await setUpOwner(admin));
  });
  /** API keys by their options. A tenant may have five keys, so equal options share one. */
  const keys = new Map<string, Promise<string>>();
  async function makeKey(body: object): Promise<string> {
    const reply = await owner('POST', '/api/admin/api-keys', { name: 'test', ...body });
    if (reply.status !== 201) throw new Error(`the API key was not created: ${reply.text}`);
    return reply.json<{ raw_key: string }>().raw_key;
  }
  const owner: Call = (method, path, body, headers) =>
    admin(method, path, body, { authorization: `Bearer ${token}`, ...headers });
  return {
    database,
    directory,
    service: running,
    admin,
    content,
    owner,
    ownerContent: (method, path, body, headers) =>
      content(method, path, body, { authorization: `Bearer ${token}`, ...headers }),
    async key({ roles = ['editor'], scopes = ['*:*'], schemas = [] }) {
      const wish = JSON.stringify({ roles, scopes, schemas });
      const making = keys.get(wish) ?? makeKey({ roles, scopes, schemas });
      keys.set(wish, making);
      const raw_key = await making;
      return (method, path, body, headers) => content(method, path, body, { 'x-api-key': raw_key, ...headers });
    },
  };
}
