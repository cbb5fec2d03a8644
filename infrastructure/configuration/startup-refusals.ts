import { issuerName } from '../../domain/identity/trusted-issuer.ts';
import { isLoopback } from './is-loopback.ts';
import type { SettingsProblem } from './read-settings.ts';
import type { Settings } from './settings/index.ts';

/** Facts about this machine that the checks need. */
export type StartupFacts = {
  /** Permission bits of the file at `jwtKeyPath`; undefined when it does not exist. */
  readonly signingKeyMode: number | undefined;
};

const PLACEHOLDER_WORDS = ['secret', 'password', 'default', 'admin', 'test', 'token', 'key'];
const PLACEHOLDER_PARTS = [
  'changeme',
  'change-me',
  'change_me',
  'replace-me',
  'replace_me',
  'replaceme',
  'example',
  'placeholder',
  'your-secret',
  'your_secret',
];
const HEX_64 = /^[0-9A-Fa-f]{64}$/;

/** Every reason to refuse to start. Remedies never contain a value. */
export function startupRefusals(settings: Settings, facts: StartupFacts): readonly SettingsProblem[] {
  return [...everywhere(settings), ...(settings.appEnv === 'production' ? inProduction(settings, facts) : [])];
}

/** Whether a secret is a placeholder such as `changeme` or a single repeated character. Case does not matter. */
export function isPlaceholder(secret: string): boolean {
  const lower = secret.toLowerCase();
  return (
    PLACEHOLDER_WORDS.includes(lower) ||
    PLACEHOLDER_PARTS.some((part) => lower.includes(part)) ||
    /^(.)\1*$/.test(lower)
  );
}

function everywhere(settings: Settings): readonly SettingsProblem[] {
  const { jwtSecret, encryptionKey } = settings;
  const problems: SettingsProblem[] = [];
  const refuse = (variable: string, remedy: string, ...related: readonly string[]) =>
    problems.push({ variable, remedy, related });
  if (settings.databaseUrl === undefined) refuse('DATABASE_URL', 'set it to postgres://user@host/database');
  if (jwtSecret === undefined) refuse('JWT_SECRET', 'set it to at least 16 random characters');
  else if (jwtSecret.length < 16) refuse('JWT_SECRET', 'make it at least 16 characters long');
  if (encryptionKey === undefined) refuse('ENCRYPTION_KEY', 'set it to at least 32 random characters');
  else if (encryptionKey.length < 32) refuse('ENCRYPTION_KEY', 'make it at least 32 characters long');
  if (encryptionKey !== undefined && encryptionKey === jwtSecret)
    refuse('ENCRYPTION_KEY', 'make it different from JWT_SECRET', 'JWT_SECRET');
  for (const [variable, secret] of [
    ['JWT_SECRET', jwtSecret],
    ['ENCRYPTION_KEY', encryptionKey],
  ] as const) {
    if (secret !== undefined && isPlaceholder(secret))
      refuse(variable, 'it is a placeholder: make a random one, such as with `openssl rand -hex 32`');
  }
  if (settings.jwtSecrets.some((secret) => secret.length < 16))
    refuse('JWT_SECRETS', 'make each of them at least 16 characters long');
  if (settings.jwtSecrets.some(isPlaceholder))
    refuse('JWT_SECRETS', 'one of them is a placeholder: make random ones, such as with `openssl rand -hex 32`');
  if (encryptionKey !== undefined && settings.jwtSecrets.includes(encryptionKey))
    refuse('JWT_SECRETS', 'make each of them different from ENCRYPTION_KEY');
  const issuers = settings.trustedIssuers.map(issuerName);
  if (settings.trustedIssuers.some((url) => !isIssuerUrl(url, settings.appEnv))) {
    refuse(
      'TRUSTED_ISSUERS',
      'list absolute https URLs without query or fragment; http is allowed for a loopback address outside production',
    );
  }
  if (settings.trustedIssuerPolicies.some(({ issuer }) => !issuers.includes(issuer)))
    refuse('TRUSTED_ISSUER_POLICIES', 'list the issuer of each policy in TRUSTED_ISSUERS', 'TRUSTED_ISSUERS');
  if (settings.auditHmacKey !== undefined && !HEX_64.test(settings.auditHmacKey))
    refuse('SVC_AUDIT_HMAC_KEY', 'set it to exactly 64 hex characters, such as from `openssl rand -hex 32`');
  if (settings.corsOrigins.some((origin) => origin.includes('*')))
    refuse('CORS_ORIGINS', 'name each origin; `*` is not allowed');
  if (settings.enforceApiKeyPepper && settings.apiKeyPepper === undefined)
    refuse('API_KEY_PEPPER', 'set it: ENFORCE_API_KEY_PEPPER requires it', 'ENFORCE_API_KEY_PEPPER');
  if ((settings.adminConsoleKey?.length ?? 32) < 32) refuse('ADMIN_CONSOLE_KEY', 'make it at least 32 characters long');
  if ((settings.adminConsoleKeyPrevious?.length ?? 32) < 32)
    refuse('ADMIN_CONSOLE_KEY_PREVIOUS', 'make it at least 32 characters long');
  if ((settings.smtpHost === undefined) !== (settings.smtpFrom === undefined))
    refuse('SMTP_HOST', 'set SMTP_HOST and SMTP_FROM together', 'SMTP_FROM');
  if ((settings.smtpUser === undefined) !== (settings.smtpPassword === undefined))
    refuse('SMTP_USER', 'set SMTP_USER and SMTP_PASS together', 'SMTP_PASS');
  if (
    settings.licenseServerUrl?.startsWith('http:') === true &&
    (settings.appEnv === 'production' || !isLoopback(new URL(settings.licenseServerUrl).hostname))
  ) {
    refuse('SVC_LICENSE_SERVER_URL', 'make it an https URL; http is allowed for a loopback address outside production');
  }
  if ((settings.tlsCertFile === undefined) !== (settings.tlsKeyFile === undefined))
    refuse('TLS_CERT_FILE', 'set TLS_CERT_FILE and TLS_KEY_FILE together', 'TLS_KEY_FILE');
  const sasl = [settings.kafkaSaslMechanism, settings.kafkaSaslUsername, settings.kafkaSaslPassword];
  if (sasl.includes(undefined) && sasl.some((value) => value !== undefined))
    refuse(
      'KAFKA_SASL_MECHANISM',
      'set KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD together',
      'KAFKA_SASL_USERNAME',
      'KAFKA_SASL_PASSWORD',
    );
  return problems;
}

function inProduction(settings: Settings, { signingKeyMode }: StartupFacts): readonly SettingsProblem[] {
  const problems: SettingsProblem[] = [];
  const refuse = (variable: string, remedy: string) => problems.push({ variable, remedy });
  if (!settings.secureCookie) refuse('SECURE_COOKIE', 'set it to true in production');
  if (settings.rateLimitRps === 0) refuse('RATE_LIMIT_RPS', 'set it above 0 in production');
  if (settings.auditHmacKey === undefined)
    refuse('SVC_AUDIT_HMAC_KEY', 'set it to exactly 64 hex characters, such as from `openssl rand -hex 32`');
  if (settings.jwtExpirySeconds > 3600) refuse('JWT_EXPIRY_SECS', 'set it to at most 3600 in production');
  if (settings.databaseUrl === 'embedded')
    refuse('DATABASE_URL', 'name a PostgreSQL server: the embedded one is for development only');
  else if (settings.databaseUrl !== undefined && userOf(settings.databaseUrl) === 'postgres')
    refuse('DATABASE_URL', 'connect with a dedicated role, not as the superuser postgres');
  if (settings.eventStoreUrl === 'memory')
    refuse('EVENT_STORE_URL', 'name a durable event store: the memory store loses all events');
  if (settings.licensePublicKey !== undefined)
    refuse('SVC_LICENSE_PUBLIC_KEY', 'unset it: production accepts only the built-in license key');
  if (settings.consoleUrl?.startsWith('https://') === false)
    refuse('SVC_CONSOLE_URL', 'make it an https URL in production');
  if (signingKeyMode !== undefined && (signingKeyMode & 0o077) !== 0)
    refuse('JWT_KEY_PATH', 'make the key file readable by its owner only (chmod 600)');
  return problems;
}

function isIssuerUrl(text: string, appEnv: Settings['appEnv']): boolean {
  if (!URL.canParse(text) || /[?#@]/.test(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && appEnv !== 'production' && isLoopback(hostname));
}

/** The user that a database URL names; undefined when it names none and pg uses `PGUSER` or the user of the system. */
function userOf(databaseUrl: string): string | undefined {
  if (!URL.canParse(databaseUrl)) return undefined;
  const parsed = new URL(databaseUrl);
  const user = parsed.username === '' ? parsed.searchParams.get('user') : parsed.username;
  try {
    return user === null ? undefined : decodeURIComponent(user);
  } catch {
    return undefined;
  }
}
