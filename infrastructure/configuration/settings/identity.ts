import { boolean, integer, list, networks, oneOf, retentionDays, text, trustedIssuerPolicies } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

const secret = { secret: true } as const;

/** Secrets, sessions, passwords, keys (spec 1, Configuration and Session rules). */
export const identity = {
  jwtSecret: optional('JWT_SECRET', text, 'Fallback signing secret, at least 16 characters.', { secret: true, shownDefault: 'required' }),
  jwtSecrets: setting('JWT_SECRETS', list, [], 'HS256 secrets that still verify during a rotation.', secret),
  jwtAlgorithm: setting('JWT_ALG', oneOf('EdDSA', 'HS256'), 'EdDSA', 'How session tokens are signed.'),
  jwtKeyPath: optional('JWT_KEY_PATH', text, 'File of the signing key; readable by its owner only in production.', { shownDefault: '`/var/lib/svc/jwt_key.json`' }),
  jwtExpirySeconds: setting('JWT_EXPIRY_SECS', integer(1), 900, 'Lifetime of a session token; production refuses above 3600.'),
  refreshTokenTtlSeconds: setting('REFRESH_TOKEN_TTL_SECS', integer(1), 2_592_000, 'Lifetime of a refresh token.'),
  trustedIssuers: setting('TRUSTED_ISSUERS', list, [], 'Base URLs of outside OpenID Connect issuers whose tokens the Content API accepts; https, or http to a loopback address outside production.'),
  trustedIssuerPolicies: setting('TRUSTED_ISSUER_POLICIES', trustedIssuerPolicies, [], 'JSON array of `{issuer, audience, tenant, roles}`: what the tokens of each issuer may do; an issuer without one is ignored.', { shownDefault: 'none' }),
  trustedIssuerPrivateNetworks: setting('TRUSTED_ISSUER_ALLOWED_PRIVATE_NETWORKS', networks, [], 'Private CIDRs or addresses in which trusted issuers may stand.'),
  encryptionKey: optional('ENCRYPTION_KEY', text, 'At least 32 characters, different from `JWT_SECRET`; encrypts stored credentials (AES-256-GCM).', { secret: true, shownDefault: 'required', layers: 'start' }),
  auditHmacKey: optional('SVC_AUDIT_HMAC_KEY', text, 'Exactly 64 hex characters: key of the audit chain.', { secret: true, shownDefault: 'required in production' }),
  auditSealSeconds: setting('SVC_AUDIT_SEAL_SECS', integer(1, 86_400), 60, 'Seconds between two signed seals of the audit log, when there is anything new; a thousand events are sealed at once.'),
  apiKeyPepper: optional('API_KEY_PEPPER', text, 'Mixed into every stored hash of an API key.', secret),
  apiKeyPepperPrevious: optional('API_KEY_PEPPER_PREVIOUS', text, 'Keys and admin tokens that were made under this pepper stay valid, so that the pepper can be changed.', secret),
  apiKeyRetentionDays: setting('APIKEY_RETENTION_DAYS', retentionDays, 365, 'Days that the requests of API keys are kept; 0 or less keeps everything.', { lenient: true }),
  enforceApiKeyPepper: setting('ENFORCE_API_KEY_PEPPER', boolean, false, 'Refuses the start unless the pepper is set.'),
  setupToken: optional('SVC_SETUP_TOKEN', text, 'Token of the first setup, at least 16 characters; unset: printed to the log while no account exists.', secret),
  passwordMinLength: setting('PASSWORD_MIN_LENGTH', integer(8, 72), 12, 'Least length of a password.'),
  passwordHashAlgorithm: setting('PASSWORD_HASH_ALGO', oneOf('bcrypt', 'argon2id'), 'bcrypt', 'How passwords are hashed.'),
  passwordRequireComplexity: setting('PASSWORD_REQUIRE_COMPLEXITY', boolean, true, 'Asks for an upper-case letter, a lower-case letter and a digit.'),
  passwordCheckCommon: setting('PASSWORD_CHECK_COMMON', boolean, true, 'Refuses passwords that everybody uses.'),
  adminConsoleKey: optional('ADMIN_CONSOLE_KEY', text, 'Shared with the console, at least 32 characters, so that sign-in limits count each person.', secret),
  adminConsoleKeyPrevious: optional('ADMIN_CONSOLE_KEY_PREVIOUS', text, 'Accepted as well during a rotation.', secret),
} as const;
