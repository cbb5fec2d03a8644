import { issuerName } from '../../domain/identity/trusted-issuer.ts';
import type { SettingsProblem } from './read-settings.ts';
import type { Settings } from './settings/index.ts';

/** What a check needs to know of the world beside the settings. */
export type StartupFacts = {
  /** Permission bits of the file at `jwtKeyPath`; undefined: there is none. */
  readonly signingKeyMode: number | undefined;
};

const PLACEHOLDER_WORDS = ['secret', 'password', 'default', 'admin', 'test', 'token', 'key'];
const PLACEHOLDER_PARTS = ['changeme', 'change-me', 'change_me', 'replace-me', 'replace_me', 'replaceme', 'example', 'placeholder', 'your-secret', 'your_secret'];
const HEX_64 = /^[0-9A-Fa-f]{64}$/;

/** Every reason to refuse the start, at once (spec 1, last paragraph of Configuration). Remedies never hold a value. */
export function startupRefusals(settings: Settings, facts: StartupFacts): readonly SettingsProblem[] {
  return [...everywhere(settings), ...(settings.appEnv === 'production' ? inProduction(settings, facts) : [])];
}

/** Whether a secret is one that people leave in by mistake; matched without case (spec 4 A, settings). */
export function isPlaceholder(secret: string): boolean {
  const lower = secret.toLowerCase();
  return PLACEHOLDER_WORDS.includes(lower) || PLACEHOLDER_PARTS.some((part) => lower.includes(part)) || /^(.)\1*$/.test(lower);
}

function everywhere(settings: Settings): readonly SettingsProblem[] {
  const { jwtSecret, encryptionKey } = settings;
  const problems: SettingsProblem[] = [];
  const refuse = (variable: string, remedy: string) => problems.push({ variable, remedy });
  if (settings.databaseUrl === undefined) refuse('DATABASE_URL', 'set it to postgres://user@host/database');
  if (jwtSecret === undefined) refuse('JWT_SECRET', 'set it to at least 16 random characters');
  else if (jwtSecret.length < 16) refuse('JWT_SECRET', 'make it at least 16 characters long');
  if (encryptionKey === undefined) refuse('ENCRYPTION_KEY', 'set it to at least 32 random characters');
  else if (encryptionKey.length < 32) refuse('ENCRYPTION_KEY', 'make it at least 32 characters long');
  if (encryptionKey !== undefined && encryptionKey === jwtSecret) refuse('ENCRYPTION_KEY', 'make it differ from JWT_SECRET');
  for (const [variable, secret] of [['JWT_SECRET', jwtSecret], ['ENCRYPTION_KEY', encryptionKey]] as const) {
    if (secret !== undefined && isPlaceholder(secret)) refuse(variable, 'it is a placeholder: make a random one, such as with `openssl rand -hex 32`');
  }
  if (settings.jwtSecrets.some((secret) => secret.length < 16)) refuse('JWT_SECRETS', 'make each of them at least 16 characters long');
  if (settings.jwtSecrets.some(isPlaceholder)) refuse('JWT_SECRETS', 'one of them is a placeholder: make random ones, such as with `openssl rand -hex 32`');
  if (encryptionKey !== undefined && settings.jwtSecrets.includes(encryptionKey)) refuse('JWT_SECRETS', 'make each of them differ from ENCRYPTION_KEY');
  const issuers = settings.trustedIssuers.map(issuerName);
  if (settings.trustedIssuers.some((url) => !isIssuerUrl(url, settings.appEnv))) {
    refuse('TRUSTED_ISSUERS', 'list absolute https URLs without query or fragment; http is for a loopback address outside production');
  }
  if (settings.trustedIssuerPolicies.some(({ issuer }) => !issuers.includes(issuer))) refuse('TRUSTED_ISSUER_POLICIES', 'each issuer of a policy must stand in TRUSTED_ISSUERS');
  if (settings.auditHmacKey !== undefined && !HEX_64.test(settings.auditHmacKey)) refuse('SVC_AUDIT_HMAC_KEY', 'set it to exactly 64 hex characters, such as from `openssl rand -hex 32`');
  if (settings.setupToken !== undefined && settings.setupToken.length < 16) refuse('SVC_SETUP_TOKEN', 'make it at least 16 characters long');
  if (settings.corsOrigins.some((origin) => origin.includes('*'))) refuse('CORS_ORIGINS', 'name each origin; `*` is not allowed');
  if (settings.enforceApiKeyPepper && settings.apiKeyPepper === undefined) refuse('API_KEY_PEPPER', 'set it: ENFORCE_API_KEY_PEPPER asks for it');
  if ((settings.adminConsoleKey?.length ?? 32) < 32) refuse('ADMIN_CONSOLE_KEY', 'make it at least 32 characters long');
  if ((settings.adminConsoleKeyPrevious?.length ?? 32) < 32) refuse('ADMIN_CONSOLE_KEY_PREVIOUS', 'make it at least 32 characters long');
  if ((settings.smtpHost === undefined) !== (settings.smtpFrom === undefined)) refuse('SMTP_HOST', 'set SMTP_HOST and SMTP_FROM together');
  if ((settings.smtpUser === undefined) !== (settings.smtpPassword === undefined)) refuse('SMTP_USER', 'set SMTP_USER and SMTP_PASS together');
  if (settings.licenseServerUrl?.startsWith('http:') === true && (settings.appEnv === 'production' || !isLoopback(new URL(settings.licenseServerUrl).hostname))) {
    refuse('SVC_LICENSE_SERVER_URL', 'make it an https URL; http is for a loopback address outside production');
  }
  if ((settings.tlsCertFile === undefined) !== (settings.tlsKeyFile === undefined)) refuse('TLS_CERT_FILE', 'set TLS_CERT_FILE and TLS_KEY_FILE together');
  if ((settings.kafkaSaslMechanism === undefined) !== (settings.kafkaSaslUsername === undefined)) refuse('KAFKA_SASL_MECHANISM', 'set mechanism, user and password together');
  return problems;
}

function inProduction(settings: Settings, { signingKeyMode }: StartupFacts): readonly SettingsProblem[] {
  const problems: SettingsProblem[] = [];
  const refuse = (variable: string, remedy: string) => problems.push({ variable, remedy });
  if (!settings.secureCookie) refuse('SECURE_COOKIE', 'set it to true in production');
  if (settings.rateLimitRps === 0) refuse('RATE_LIMIT_RPS', 'set it above 0 in production');
  if (settings.auditHmacKey === undefined) refuse('SVC_AUDIT_HMAC_KEY', 'set it to exactly 64 hex characters, such as from `openssl rand -hex 32`');
  if (settings.jwtExpirySeconds > 3600) refuse('JWT_EXPIRY_SECS', 'set it to at most 3600 in production');
  if (settings.databaseUrl === 'embedded') refuse('DATABASE_URL', 'name a PostgreSQL server: the embedded one is for development');
  else if (settings.databaseUrl !== undefined && userOf(settings.databaseUrl) === 'postgres') refuse('DATABASE_URL', 'sign in as a role of its own, not as the superuser postgres');
  if (settings.eventStoreUrl === 'memory') refuse('EVENT_STORE_URL', 'the memory store forgets everything: name a lasting one');
  if (settings.licensePublicKey !== undefined) refuse('SVC_LICENSE_PUBLIC_KEY', 'unset it: production knows the built-in license key only');
  if (settings.consoleUrl?.startsWith('https://') === false) refuse('SVC_CONSOLE_URL', 'make it an https URL in production');
  if (signingKeyMode !== undefined && (signingKeyMode & 0o077) !== 0) refuse('JWT_KEY_PATH', 'make the key file readable by its owner only (chmod 600)');
  return problems;
}

function isIssuerUrl(text: string, appEnv: Settings['appEnv']): boolean {
  if (!URL.canParse(text) || /[?#@]/.test(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && appEnv !== 'production' && isLoopback(hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Who the URL signs in as; pg signs in as PGUSER or the system's user where it names nobody. */
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
