import { boolean, connection, hostPort, integer, list, listOf, networks, oneOf, retentionDays, text, url } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

/** Roles a process may take (spec 4 A). */
export const ROLES = ['api', 'projector', 'relay', 'worker', 'scheduler'] as const;

const start = { layers: 'start' } as const;

/** Process, addresses, logs, limits (spec 1, Configuration; spec 4 A). */
export const core = {
  configFile: optional('SVC_CONFIG', text, 'File or directory of settings; unset: `svc.yaml` in the working directory, then in `/etc/svc/`, then `/etc/svc/conf.d/`.', { layers: 'environment' }),
  overridable: setting('SVC_OVERRIDABLE', list, [], 'Variables of the environment that the console may take over.', { layers: 'environment' }),
  setupMode: setting('SVC_SETUP_MODE', boolean, false, 'Starts without database and secrets and serves only probes and the setup routes.', { layers: 'environment', shownDefault: 'unset' }),
  appEnv: setting('APP_ENV', oneOf('production', 'development'), 'production', 'What the startup checks demand.', start),
  roles: setting('SVC_ROLES', listOf(...ROLES), ROLES, 'What this process does.', { shownDefault: 'all', ...start }),
  leaseMs: setting('SVC_LEASE_MS', integer(500, 600_000), 10_000, 'Milliseconds after which a dead owner of a duty (projector, relay, worker) is replaced.', start),
  dataDir: setting('SVC_DATA_DIR', text, './.palimpsest', 'Local state of the quickstart.', start),
  adminListenAddress: setting('ADMIN_LISTEN_ADDR', hostPort, '0.0.0.0:3001', 'Bind address of the Admin API.'),
  apiListenAddress: setting('API_LISTEN_ADDR', hostPort, '0.0.0.0:3002', 'Bind address of the Content API.'),
  tlsCertFile: optional('TLS_CERT_FILE', text, 'PEM certificate of both listeners; set together with the key.'),
  tlsKeyFile: optional('TLS_KEY_FILE', text, 'PEM key of both listeners.'),
  consoleUrl: optional('SVC_CONSOLE_URL', url('http', 'https'), 'Public URL of the console; https in production.', { shownDefault: '`http://localhost:5173` outside production' }),
  baseUrl: optional('SVC_BASE_URL', url('http', 'https'), 'Public base URL for absolute links.'),
  allowedHosts: setting('ALLOWED_HOSTS', list, [], 'Host names answered, `*.example.org` for all below one; others get 421. Probes are answered on every host.', { shownDefault: 'every host' }),
  ipAllowlist: setting('IP_ALLOWLIST', networks, [], 'CIDRs or addresses answered; others get 403.', { shownDefault: 'every address' }),
  corsOrigins: setting('CORS_ORIGINS', list, ['http://localhost:5173'], 'Allowed origins; `*` is refused.'),
  corsAllowedDomains: setting('CORS_ALLOWED_DOMAINS', list, [], 'Domain suffixes: origins on a tenant\'s domain below one of them are allowed too.'),
  corsAllowMethods: setting('CORS_ALLOW_METHODS', list, ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'], 'Methods of preflight answers.'),
  corsAllowHeaders: setting('CORS_ALLOW_HEADERS', list, ['Content-Type', 'Authorization', 'X-API-Key', 'X-Tenant-ID', 'X-Correlation-ID', 'X-CSRF-Token'], 'Replaces the list of headers of preflight answers.'),
  corsExposeHeaders: setting('CORS_EXPOSE_HEADERS', list, ['X-Request-Id', 'X-Correlation-ID', 'RateLimit-*', 'X-RateLimit-*', 'Retry-After'], 'Response headers that scripts may read.'),
  corsMaxAge: setting('CORS_MAX_AGE', integer(0), 3600, 'Seconds a browser keeps a preflight answer.'),
  secureCookie: setting('SECURE_COOKIE', boolean, false, 'Secure cookies, HSTS and the redirect to https; production requires `true`.'),
  trustedProxies: setting('TRUSTED_PROXIES', networks, [], 'CIDRs whose `X-Forwarded-For` is trusted.'),
  maxBodyBytes: setting('MAX_BODY_BYTES', integer(1), 10_485_760, 'Most bytes of a body that is not JSON.'),
  maxJsonBodyBytes: setting('MAX_JSON_BODY_BYTES', integer(1), 1_048_576, 'Most bytes of a JSON body.'),
  rateLimitRps: setting('RATE_LIMIT_RPS', integer(0), 0, 'Requests per second and address; 0 turns it off, which production refuses.', { shownDefault: 'unset' }),
  rateLimitBurst: optional('RATE_LIMIT_BURST', integer(1), 'Burst of that limit.', { shownDefault: 'twice the rate, at least 1' }),
  logLevel: setting('LOG_LEVEL', oneOf('error', 'warn', 'info', 'debug'), 'info', 'Least severe line that is logged; reads are logged at `debug`.'),
  logFormat: optional('LOG_FORMAT', oneOf('json', 'pretty'), 'Form of log lines.', { shownDefault: '`json` in production, else `pretty`' }),
  metricsToken: optional('METRICS_TOKEN', text, 'Bearer token of `/api/admin/metrics`; unset: super admins only.', { secret: true }),
  redisUrl: optional('REDIS_URL', connection([], ['redis', 'rediss']), 'Shared rate-limit counts, caches, invalidation across replicas.', { secret: true, shownDefault: 'unset: in memory', ...start }),
  webhookAllowedPrivateNetworks: setting('WEBHOOK_ALLOWED_PRIVATE_NETWORKS', networks, [], 'Private CIDRs or addresses that webhooks may reach all the same.'),
  webhookDeliveryRetentionDays: setting('WEBHOOK_DELIVERY_RETENTION_DAYS', retentionDays, 30, 'Days that what was sent to webhooks is kept, with its attempts; 0 or less keeps everything.', { lenient: true }),
  webhookDeadLetterRetentionDays: setting('WEBHOOK_DEAD_LETTER_RETENTION_DAYS', retentionDays, 90, 'Days that dead letters of webhooks are kept, pending ones too; 0 or less keeps everything.', { lenient: true }),
  deadEventRetentionDays: setting('DEAD_EVENT_RETENTION_DAYS', retentionDays, 90, 'Days that it is kept on record which events a worker could not handle; 0 or less keeps everything.', { lenient: true }),
} as const;
