import {
  boolean,
  integer,
  list,
  networks,
  oneOf,
  retentionDays,
  text,
  textOfAtLeast,
  trustedIssuerPolicies,
} from '../parsers.ts';
import { optional, setting } from '../setting.ts';

const secret = { secret: true } as const;

/** Secrets, sessions, passwords, API keys. */
export const identity = {
  jwtSecret: optional('JWT_SECRET', text, 'Fallback signing secret, at least 16 characters.', {
    secret: true,
    shownDefault: 'required',
  }),
  jwtSecrets: setting(
    'JWT_SECRETS',
    list,
    [],
    'Previous HS256 secrets: tokens signed with one stay valid during a rotation.',
    secret,
  ),
  jwtAlgorithm: setting('JWT_ALG', oneOf('EdDSA', 'HS256'), 'EdDSA', 'Signature algorithm of session tokens.'),
  jwtKeyPath: optional(
    'JWT_KEY_PATH',
    text,
    'File of the signing keys; created at the first start. In production only its owner may read it.',
    {
      shownDefault: '`/var/lib/svc/jwt_key.json`',
    },
  ),
  jwtExpirySeconds: setting(
    'JWT_EXPIRY_SECS',
    integer(1),
    900,
    'Lifetime of a session token in seconds. Production refuses more than 3600.',
  ),
  refreshTokenTtlSeconds: setting(
    'REFRESH_TOKEN_TTL_SECS',
    integer(1),
    2_592_000,
    'Lifetime of a refresh token in seconds.',
  ),
  trustedIssuers: setting(
    'TRUSTED_ISSUERS',
    list,
    [],
    'Base URLs of external OpenID Connect issuers whose tokens the Content API accepts. They use https, or outside production http to a loopback address.',
  ),
  trustedIssuerPolicies: setting(
    'TRUSTED_ISSUER_POLICIES',
    trustedIssuerPolicies,
    [],
    'JSON array of `{issuer, audience, tenant, roles}`: tenant and roles of the tokens of each issuer. Tokens of an issuer without a policy are ignored.',
    { shownDefault: 'none' },
  ),
  trustedIssuerPrivateNetworks: setting(
    'TRUSTED_ISSUER_ALLOWED_PRIVATE_NETWORKS',
    networks,
    [],
    'Private CIDRs or addresses from which the keys of trusted issuers may be fetched.',
  ),
  encryptionKey: optional(
    'ENCRYPTION_KEY',
    text,
    'Encrypts stored credentials and personal data (AES-256-GCM). At least 32 characters, different from `JWT_SECRET`.',
    { secret: true, shownDefault: 'required', layers: 'start' },
  ),
  auditHmacKey: optional('SVC_AUDIT_HMAC_KEY', text, 'Key of the audit chain: exactly 64 hex characters.', {
    secret: true,
    shownDefault: 'required in production',
  }),
  auditSignSeconds: setting(
    'SVC_AUDIT_SEAL_SECS',
    integer(1, 86_400),
    60,
    'Longest time in seconds before new events get a signed audit seal. 1,000 new events are sealed at once.',
  ),
  auditAnchorFile: optional(
    'SVC_AUDIT_ANCHOR_FILE',
    text,
    'File to which the role `scheduler` appends every audit signature, on a disk that writers of the database cannot change. `palimpsest verify-audit --anchors` compares it.',
    { layers: 'start' },
  ),
  apiKeyPepper: optional('API_KEY_PEPPER', text, 'HMAC key of the stored hashes of API keys and admin tokens.', secret),
  apiKeyPepperPrevious: optional(
    'API_KEY_PEPPER_PREVIOUS',
    text,
    'Previous pepper: keys and admin tokens created under it stay valid. Set it when you change `API_KEY_PEPPER`.',
    secret,
  ),
  apiKeyRetentionDays: setting(
    'APIKEY_RETENTION_DAYS',
    retentionDays,
    365,
    'Days that the request log of API keys is kept. 0 or less keeps it forever.',
    { lenient: true },
  ),
  enforceApiKeyPepper: setting(
    'ENFORCE_API_KEY_PEPPER',
    boolean,
    false,
    'Refuses to start unless `API_KEY_PEPPER` is set.',
  ),
  setupToken: optional(
    'SVC_SETUP_TOKEN',
    textOfAtLeast(16),
    'Token that the first setup asks for, at least 16 characters; a shorter one is ignored with a warning. Unset: each start logs a random one while no account exists.',
    { secret: true, lenient: true },
  ),
  passwordMinLength: setting('PASSWORD_MIN_LENGTH', integer(8, 72), 12, 'Minimum length of a password.'),
  passwordHashAlgorithm: setting(
    'PASSWORD_HASH_ALGO',
    oneOf('bcrypt', 'argon2id'),
    'bcrypt',
    'Hash algorithm of passwords.',
  ),
  passwordRequireComplexity: setting(
    'PASSWORD_REQUIRE_COMPLEXITY',
    boolean,
    true,
    'Requires an upper-case letter, a lower-case letter and a digit in a password.',
  ),
  passwordCheckCommon: setting('PASSWORD_CHECK_COMMON', boolean, true, 'Refuses common passwords.'),
  adminConsoleKey: optional(
    'ADMIN_CONSOLE_KEY',
    text,
    'Secret shared with the console, at least 32 characters. The console sends it with the address of its user, so that sign-in limits count each user.',
    secret,
  ),
  adminConsoleKeyPrevious: optional(
    'ADMIN_CONSOLE_KEY_PREVIOUS',
    text,
    'Previous `ADMIN_CONSOLE_KEY`; accepted too during a rotation.',
    secret,
  ),
} as const;
