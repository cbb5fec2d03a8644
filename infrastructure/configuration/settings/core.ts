import {
  boolean,
  connection,
  hostPort,
  integer,
  list,
  listOf,
  networks,
  oneOf,
  retentionDays,
  text,
  textOfAtLeast,
  url,
} from '../parsers.ts';
import { optional, setting } from '../setting.ts';

/** The roles that a process may have. */
const ROLES = ['api', 'projector', 'relay', 'worker', 'scheduler'] as const;
export type ProcessRole = (typeof ROLES)[number];

const start = { layers: 'start' } as const;

/** Process, addresses, logs, limits, retention. */
export const core = {
  configFile: optional(
    'SVC_CONFIG',
    text,
    'Settings file, or a directory of settings files. Unset: `svc.yaml` in the working directory, else in `/etc/svc/`, else the files in `/etc/svc/conf.d/`.',
    { layers: 'environment' },
  ),
  overridable: setting('SVC_OVERRIDABLE', list, [], 'Environment variables whose values the console may override.', {
    layers: 'environment',
  }),
  setupMode: setting(
    'SVC_SETUP_MODE',
    boolean,
    false,
    'Starts without a database and secrets, and serves only the probes and the setup routes.',
    { layers: 'environment', shownDefault: 'unset' },
  ),
  appEnv: setting(
    'APP_ENV',
    oneOf('production', 'development'),
    'production',
    'Which checks the settings must pass at start. `development` also allows the embedded database and plain HTTP.',
    start,
  ),
  roles: setting('SVC_ROLES', listOf(...ROLES), ROLES, 'Roles of this process.', { shownDefault: 'all', ...start }),
  leaseMs: setting(
    'SVC_LEASE_MS',
    integer(500, 600_000),
    10_000,
    'TTL of leases in milliseconds. When the process that holds a lease (projector, relay, worker) dies, another one takes over after this time.',
    start,
  ),
  dataDir: setting(
    'SVC_DATA_DIR',
    text,
    './.palimpsest',
    'Directory of local state: the embedded database, generated secrets, the mail outbox of development, the license cache.',
    start,
  ),
  adminListenAddress: setting('ADMIN_LISTEN_ADDR', hostPort, '0.0.0.0:3001', 'Listen address of the Admin API.'),
  apiListenAddress: setting('API_LISTEN_ADDR', hostPort, '0.0.0.0:3002', 'Listen address of the Content API.'),
  tlsCertFile: optional(
    'TLS_CERT_FILE',
    text,
    'File with the PEM certificate of both listeners. Requires `TLS_KEY_FILE`.',
  ),
  tlsKeyFile: optional('TLS_KEY_FILE', text, 'File with the PEM private key of both listeners.'),
  consoleUrl: optional(
    'SVC_CONSOLE_URL',
    url('http', 'https'),
    'Public URL of the console, for links in mails. Production requires https.',
    {
      fallbackOutsideProduction: 'http://localhost:5173',
      shownDefault: '`http://localhost:5173` outside production',
    },
  ),
  baseUrl: optional('SVC_BASE_URL', url('http', 'https'), 'Public base URL for absolute links.'),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    list,
    [],
    'Host names that are served; `*.example.org` allows every subdomain. Requests to other hosts get 421. Probes are served on every host.',
    { shownDefault: 'every host' },
  ),
  ipAllowlist: setting(
    'IP_ALLOWLIST',
    networks,
    [],
    'CIDRs or addresses of clients that are served. Requests from other addresses get 403.',
    {
      shownDefault: 'every address',
    },
  ),
  corsOrigins: setting(
    'CORS_ORIGINS',
    list,
    ['http://localhost:5173'],
    'Origins that browsers may call from. `*` is refused.',
  ),
  corsAllowedDomains: setting(
    'CORS_ALLOWED_DOMAINS',
    list,
    [],
    "Domain suffixes. An origin on a tenant's domain is allowed too when the domain ends with one of them.",
  ),
  corsAllowMethods: setting(
    'CORS_ALLOW_METHODS',
    list,
    ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'],
    'Methods that preflight responses allow.',
  ),
  corsAllowHeaders: setting(
    'CORS_ALLOW_HEADERS',
    list,
    ['Content-Type', 'Authorization', 'X-API-Key', 'X-Tenant-ID', 'X-Correlation-ID', 'X-CSRF-Token'],
    'Request headers that preflight responses allow. Replaces the default list.',
  ),
  corsExposeHeaders: setting(
    'CORS_EXPOSE_HEADERS',
    list,
    ['X-Request-Id', 'X-Correlation-ID', 'RateLimit-*', 'X-RateLimit-*', 'Retry-After'],
    'Response headers that browser scripts may read.',
  ),
  corsMaxAge: setting('CORS_MAX_AGE', integer(0), 3600, 'Seconds that browsers cache a preflight response.'),
  secureCookie: setting(
    'SECURE_COOKIE',
    boolean,
    false,
    'Sets secure cookies and HSTS, and redirects http to https. Production requires `true`.',
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    networks,
    [],
    'CIDRs or addresses of proxies whose `X-Forwarded-For` is trusted.',
  ),
  maxBodyBytes: setting(
    'MAX_BODY_BYTES',
    integer(1),
    10_485_760,
    'Largest request body in bytes, for bodies other than JSON.',
  ),
  maxJsonBodyBytes: setting('MAX_JSON_BODY_BYTES', integer(1), 1_048_576, 'Largest JSON request body in bytes.'),
  maxResponseBytes: setting(
    'MAX_RESPONSE_BYTES',
    integer(65_536, 134_217_728),
    16_777_216,
    'Largest list of entries, and largest entry with related entries, in bytes. A request for a larger one gets 400 with a hint of what fits.',
  ),
  rateLimitRps: setting(
    'RATE_LIMIT_RPS',
    integer(0),
    0,
    'Requests per second and client address. 0 turns the limit off, which production refuses.',
    { shownDefault: 'unset' },
  ),
  rateLimitBurst: optional('RATE_LIMIT_BURST', integer(1), 'Burst that `RATE_LIMIT_RPS` allows.', {
    shownDefault: 'twice the rate, at least 1',
  }),
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('error', 'warn', 'info', 'debug'),
    'info',
    'Lowest severity that is logged. Read requests are logged at `debug`.',
  ),
  logFormat: optional('LOG_FORMAT', oneOf('json', 'pretty'), 'Format of log lines.', {
    shownDefault: '`json` in production, else `pretty`',
  }),
  metricsToken: optional(
    'METRICS_TOKEN',
    textOfAtLeast(16),
    'Bearer token for `/api/admin/metrics`, at least 16 characters. Unset: only super admins may read the metrics.',
    {
      secret: true,
    },
  ),
  redisUrl: optional(
    'REDIS_URL',
    connection([], ['redis', 'rediss']),
    'Redis for signals between processes, instead of PostgreSQL `NOTIFY`.',
    { secret: true, shownDefault: 'unset: PostgreSQL', ...start },
  ),
  webhookAllowedPrivateNetworks: setting(
    'WEBHOOK_ALLOWED_PRIVATE_NETWORKS',
    networks,
    [],
    'Private CIDRs or addresses that webhooks may call. All other private networks are refused.',
  ),
  webhookDeliveryRetentionDays: setting(
    'WEBHOOK_DELIVERY_RETENTION_DAYS',
    retentionDays,
    30,
    'Days that webhook deliveries and their attempts are kept. 0 or less keeps them forever.',
    { lenient: true },
  ),
  webhookDeadLetterRetentionDays: setting(
    'WEBHOOK_DEAD_LETTER_RETENTION_DAYS',
    retentionDays,
    90,
    'Days that dead letters of webhooks are kept, including pending ones. 0 or less keeps them forever.',
    { lenient: true },
  ),
  deadEventRetentionDays: setting(
    'DEAD_EVENT_RETENTION_DAYS',
    retentionDays,
    90,
    'Days that dead events (events that a worker could not handle) are kept. 0 or less keeps them forever.',
    { lenient: true },
  ),
} as const;
