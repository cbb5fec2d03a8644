import { expect } from 'chai';
import fc from 'fast-check';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError, loadSettings } from '../../../infrastructure/configuration/load-settings.ts';
import {
  type SettingsLayer,
  environmentLayer,
  readSettings,
} from '../../../infrastructure/configuration/read-settings.ts';
import type { Setting } from '../../../infrastructure/configuration/setting.ts';
import { SETTINGS } from '../../../infrastructure/configuration/settings/index.ts';
import { settingsTable } from '../../../infrastructure/configuration/settings-table.ts';
import { isPlaceholder } from '../../../infrastructure/configuration/startup-refusals.ts';
import { useDirectory } from '../../support/directory.ts';

const DEVELOPMENT = {
  APP_ENV: 'development',
  DATABASE_URL: 'postgres://app@db/palimpsest',
  JWT_SECRET: 'f9c1b7d2e4a80613',
  ENCRYPTION_KEY: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
};
const PRODUCTION = {
  ...DEVELOPMENT,
  APP_ENV: 'production',
  SECURE_COOKIE: 'true',
  RATE_LIMIT_RPS: '50',
  SVC_AUDIT_HMAC_KEY: 'ab'.repeat(32),
  JWT_KEY_PATH: '/nowhere/key.json',
};

/** The variables that prevent the start. */
function refused(environment: Record<string, string | undefined>): readonly string[] {
  try {
    loadSettings([environmentLayer(environment)]);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.map(({ variable }) => variable);
    throw error;
  }
}

describe('reading the settings', () => {
  it('gives the documented defaults without an environment', () => {
    const { settings } = readSettings([environmentLayer({})]);
    expect(settings).to.deep.include({
      appEnv: 'production',
      adminListenAddress: '0.0.0.0:3001',
      apiListenAddress: '0.0.0.0:3002',
      databaseMaxConnections: 25,
      poolMinConnections: 2,
      connectionMaxLifetimeMs: 3_600_000,
      jwtExpirySeconds: 900,
      refreshTokenTtlSeconds: 2_592_000,
      maxBodyBytes: 10_485_760,
      maxJsonBodyBytes: 1_048_576,
      eventStoreUrl: 'postgres',
      kafkaTopicPrefix: 'palimpsest',
      passwordMinLength: 12,
      corsOrigins: ['http://localhost:5173'],
      corsMaxAge: 3600,
      dataDir: './.palimpsest',
      secureCookie: false,
      roles: ['api', 'projector', 'relay', 'worker', 'scheduler'],
    });
  });
  it('parses each value to its type', () => {
    const { settings, sources, problems } = readSettings([
      environmentLayer({
        SVC_ROLES: 'api, worker',
        DB_CONN_MAX_LIFETIME: '1h30m',
        KAFKA_BROKERS: 'a:9092,b:9092',
        TRUSTED_PROXIES: '10.0.0.0/8,::1',
        SVC_CONSOLE_URL: 'https://cms.test/',
        POOL_HEALTH_MAX_UTIL: '0.5',
      }),
    ]);
    expect(problems).to.deep.equal([]);
    expect(settings).to.deep.include({
      roles: ['api', 'worker'],
      connectionMaxLifetimeMs: 5_400_000,
      kafkaBrokers: ['a:9092', 'b:9092'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      consoleUrl: 'https://cms.test',
      poolHealthMaxUtilisation: 0.5,
    });
    expect(sources).to.include({ SVC_ROLES: 'environment', LOG_LEVEL: 'default' });
  });
  it('takes each value from the highest layer that has one; empty text there unsets the setting', () => {
    const file: SettingsLayer = {
      name: 'file',
      get: (variable) => ({ LOG_LEVEL: 'debug', METRICS_TOKEN: 'a-token-of-the-file', CORS_MAX_AGE: '5' })[variable],
    };
    const { settings, sources } = readSettings([environmentLayer({ LOG_LEVEL: 'warn', METRICS_TOKEN: '' }), file]);
    expect(settings).to.include({ logLevel: 'warn', metricsToken: undefined, corsMaxAge: 5 });
    expect(sources).to.include({ LOG_LEVEL: 'environment', CORS_MAX_AGE: 'file' });
  });
  it('refuses a METRICS_TOKEN of less than 16 characters', () => {
    const read = (token: string) =>
      readSettings([environmentLayer({ APP_ENV: 'development', METRICS_TOKEN: token })]).problems.map(
        ({ variable, remedy }) => [variable, remedy],
      );
    expect(read('fifteen-letters')).to.deep.equal([['METRICS_TOKEN', 'make it at least 16 characters long']]);
    expect(read('sixteen-letters!')).to.deep.equal([]);
  });
  it('turns a setting off by an empty value, which stands above all lower layers and the default', () => {
    const off = (environment: Record<string, string>) =>
      readSettings([environmentLayer({ APP_ENV: 'development', ...environment })]);
    expect(off({}).settings.consoleUrl).to.equal('http://localhost:5173');
    expect(off({ APP_ENV: 'production' }).settings.consoleUrl).to.equal(undefined);
    const empty = { SVC_CONSOLE_URL: '', CORS_ORIGINS: ' ', CORS_ALLOW_METHODS: '', PASSWORD_CHECK_COMMON: '' };
    const { settings, sources, problems } = off(empty);
    expect(problems).to.deep.equal([]);
    expect(settings).to.deep.include({
      consoleUrl: undefined,
      corsOrigins: [],
      corsAllowMethods: [],
      passwordCheckCommon: false,
    });
    for (const variable of Object.keys(empty)) expect(sources[variable], variable).to.equal('environment');
  });
  it('keeps the default of an empty value where the service needs one', () => {
    const empty = Object.fromEntries(Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => [name, '']));
    const { settings, problems } = readSettings([environmentLayer(empty)]);
    const defaults = readSettings([environmentLayer({})]).settings;
    expect(problems).to.deep.equal([]);
    for (const [key, declared] of Object.entries<Setting<unknown>>(SETTINGS)) {
      const value: unknown = settings[key as keyof typeof settings];
      const isOff = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
      if (!isOff) expect(value, declared.name).to.deep.equal(defaults[key as keyof typeof defaults]);
    }
    expect(settings.roles).to.deep.equal(defaults.roles);
    expect(settings.jwtExpirySeconds).to.equal(900);
  });
  it('reports all values that do not parse at once, with a remedy and without the value', () => {
    const wrong = {
      ...DEVELOPMENT,
      CORS_MAX_AGE: 'wrong-1',
      SVC_ROLES: 'wrong-2',
      ADMIN_LISTEN_ADDR: 'wrong-3',
      JWT_ALG: 'wrong-4',
      PASSWORD_HASH_ALGO: 'wrong-5',
      STORAGE_DRIVER: 'wrong-6',
      DATABASE_DRIVER: 'wrong-7',
      REDIS_URL: 'wrong-8',
      DATABASE_URL: 'wrong-9',
    };
    expect(refused(wrong)).to.have.members([
      'CORS_MAX_AGE',
      'SVC_ROLES',
      'ADMIN_LISTEN_ADDR',
      'JWT_ALG',
      'PASSWORD_HASH_ALGO',
      'STORAGE_DRIVER',
      'DATABASE_DRIVER',
      'REDIS_URL',
      'DATABASE_URL',
    ]);
    expect(() => loadSettings([environmentLayer(wrong)]))
      .to.throw(/CORS_MAX_AGE: set it to a whole number/)
      .and.satisfy((error: Error) => !error.message.includes('wrong-'));
  });
  it('replaces pool settings that do not parse by their defaults', () => {
    expect(
      readSettings([
        environmentLayer({
          DATABASE_MAX_CONNECTIONS: 'many',
          DB_CONN_MAX_LIFETIME: 'long',
          POOL_HEALTH_MIN_IDLE: '-1',
        }),
      ]),
    )
      .to.deep.include({ problems: [] })
      .and.nested.include({ 'settings.databaseMaxConnections': 25, 'ignored.length': 3 });
  });
  it('passes over a setup token under 16 characters, and says so', () => {
    const { settings, ignored } = loadSettings([
      environmentLayer({ ...PRODUCTION, SVC_SETUP_TOKEN: 'fifteen-letters' }),
    ]);
    expect(settings.setupToken).to.equal(undefined);
    expect(ignored).to.deep.equal([{ variable: 'SVC_SETUP_TOKEN', remedy: 'make it at least 16 characters long' }]);
  });
  it('never crashes on any text', () => {
    const names = Object.values<Setting<unknown>>(SETTINGS).map(({ name }) => name);
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.string(),
        (name, text) => void refused({ ...PRODUCTION, [name]: text }),
      ),
    );
  });
  it('declares each variable once and lists it in the table', () => {
    const declared = Object.values<Setting<unknown>>(SETTINGS);
    expect(new Set(declared.map(({ name }) => name)).size).to.equal(declared.length);
    const table = settingsTable();
    for (const { name } of declared) expect(table).to.contain(`| \`${name}\` |`);
    expect(table).to.contain(
      '| `JWT_SECRET` | Fallback signing secret, at least 16 characters. Secret. | text | required |',
    );
  });
});

describe('the checks of the settings at start', () => {
  const directory = useDirectory();

  it('accept the required settings', () => {
    expect(refused(DEVELOPMENT)).to.deep.equal([]);
    expect(refused(PRODUCTION)).to.deep.equal([]);
  });
  it('name all missing secrets at once', () => {
    expect(refused({ APP_ENV: 'development' })).to.have.members(['DATABASE_URL', 'JWT_SECRET', 'ENCRYPTION_KEY']);
  });

  for (const [why, change, variable] of [
    ['JWT_SECRET is under 16 characters', { JWT_SECRET: 'f9c1b7d2e4a8061' }, 'JWT_SECRET'],
    ['ENCRYPTION_KEY is under 32 characters', { ENCRYPTION_KEY: '0f1e2d3c4b5a69788796a5b4c3d2e1f' }, 'ENCRYPTION_KEY'],
    ['both secrets are equal', { JWT_SECRET: DEVELOPMENT.ENCRYPTION_KEY }, 'ENCRYPTION_KEY'],
    ['JWT_SECRET is a placeholder', { JWT_SECRET: 'please-CHANGEME-now' }, 'JWT_SECRET'],
    ['one of JWT_SECRETS is short', { JWT_SECRETS: 'a1f9c1b7d2e4a80613,short' }, 'JWT_SECRETS'],
    ['one of JWT_SECRETS is a placeholder', { JWT_SECRETS: 'please-CHANGEME-now-then' }, 'JWT_SECRETS'],
    ['one of JWT_SECRETS is the ENCRYPTION_KEY', { JWT_SECRETS: DEVELOPMENT.ENCRYPTION_KEY }, 'JWT_SECRETS'],
    ['JWT_ALG is neither EdDSA nor HS256', { JWT_ALG: 'none' }, 'JWT_ALG'],
    ['a trusted issuer is not a URL', { TRUSTED_ISSUERS: 'issuer.test' }, 'TRUSTED_ISSUERS'],
    ['a trusted issuer has a query', { TRUSTED_ISSUERS: 'https://issuer.test/?a=b' }, 'TRUSTED_ISSUERS'],
    ['a trusted issuer contains a password', { TRUSTED_ISSUERS: 'https://a:b@issuer.test' }, 'TRUSTED_ISSUERS'],
    ['a trusted issuer uses http over a network', { TRUSTED_ISSUERS: 'http://issuer.test' }, 'TRUSTED_ISSUERS'],
    [
      'a policy is for an issuer that is not listed',
      {
        TRUSTED_ISSUER_POLICIES:
          '[{"issuer":"https://issuer.test","audience":"a","tenant":"default","roles":["editor"]}]',
      },
      'TRUSTED_ISSUER_POLICIES',
    ],
    ['the policies are not JSON', { TRUSTED_ISSUER_POLICIES: 'https://issuer.test' }, 'TRUSTED_ISSUER_POLICIES'],
    ['ENCRYPTION_KEY is a placeholder', { ENCRYPTION_KEY: 'replace-me-replace-me-replace-me-1' }, 'ENCRYPTION_KEY'],
    ['CORS_ORIGINS contains *', { CORS_ORIGINS: 'https://a.test,*' }, 'CORS_ORIGINS'],
    ['the audit key is not 64 hex characters', { SVC_AUDIT_HMAC_KEY: 'g'.repeat(64) }, 'SVC_AUDIT_HMAC_KEY'],
    ['the pepper is required and unset', { ENFORCE_API_KEY_PEPPER: 'true' }, 'API_KEY_PEPPER'],
    ['only one of TLS certificate and key is set', { TLS_CERT_FILE: '/a.pem' }, 'TLS_CERT_FILE'],
  ] as const) {
    it(`refuse to start in every environment when ${why}`, () => {
      expect(refused({ ...DEVELOPMENT, ...change })).to.deep.equal([variable]);
      expect(refused({ ...PRODUCTION, ...change })).to.deep.equal([variable]);
    });
  }

  for (const [why, change, variable] of [
    ['SECURE_COOKIE is not true', { SECURE_COOKIE: undefined }, 'SECURE_COOKIE'],
    ['RATE_LIMIT_RPS is unset', { RATE_LIMIT_RPS: undefined }, 'RATE_LIMIT_RPS'],
    ['RATE_LIMIT_RPS is 0', { RATE_LIMIT_RPS: '0' }, 'RATE_LIMIT_RPS'],
    ['the audit key is unset', { SVC_AUDIT_HMAC_KEY: undefined }, 'SVC_AUDIT_HMAC_KEY'],
    ['JWT_EXPIRY_SECS exceeds 3600', { JWT_EXPIRY_SECS: '3601' }, 'JWT_EXPIRY_SECS'],
    ['the database URL names the superuser', { DATABASE_URL: 'postgres://postgres:x@db/palimpsest' }, 'DATABASE_URL'],
    [
      'the query of the database URL names the superuser',
      { DATABASE_URL: 'postgres://db/palimpsest?user=postgres' },
      'DATABASE_URL',
    ],
    ['the database is embedded', { DATABASE_URL: 'embedded' }, 'DATABASE_URL'],
    ['the event store is memory', { EVENT_STORE_URL: 'memory' }, 'EVENT_STORE_URL'],
    [
      'a trusted issuer uses http on a loopback address',
      { TRUSTED_ISSUERS: 'http://localhost:8080/realms/main' },
      'TRUSTED_ISSUERS',
    ],
    ['the URL of the console is not https', { SVC_CONSOLE_URL: 'http://cms.test' }, 'SVC_CONSOLE_URL'],
  ] as const) {
    it(`refuse to start in production only when ${why}`, () => {
      expect(refused({ ...PRODUCTION, ...change })).to.deep.equal([variable]);
      expect(refused({ ...PRODUCTION, ...change, APP_ENV: undefined })).to.deep.equal([variable]);
      expect(refused({ ...PRODUCTION, ...change, APP_ENV: 'development' })).to.deep.equal([]);
    });
  }

  it('refuse to start in production when others can read the signing key', () => {
    const JWT_KEY_PATH = join(directory(), 'key.json');
    writeFileSync(JWT_KEY_PATH, '{}');
    chmodSync(JWT_KEY_PATH, 0o640);
    expect(refused({ ...PRODUCTION, JWT_KEY_PATH })).to.deep.equal(['JWT_KEY_PATH']);
    chmodSync(JWT_KEY_PATH, 0o600);
    expect(refused({ ...PRODUCTION, JWT_KEY_PATH })).to.deep.equal([]);
  });

  it('recognise placeholders in any case, and never take a random secret for one', () => {
    for (const placeholder of [
      'secret',
      'PASSWORD',
      'Default',
      'x-ChangeMe-x',
      'my-replace-me',
      'example-secret-key',
      'PLACEHOLDER_1',
    ])
      expect(isPlaceholder(placeholder), placeholder).to.equal(true);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => new Set(bytes).size > 8),
        (bytes) => !isPlaceholder(Buffer.from(bytes).toString('hex')),
      ),
    );
  });
});
