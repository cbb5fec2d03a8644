import type { Settings } from './settings/index.ts';

/**
 * The security controls of an installation with these settings. `detail`: what the control does, or how to enable it.
 */
export function securityControlsOf(settings: Settings) {
  const control = (name: string, enforced: boolean, detail: string) => ({ name, enforced, detail });
  const tls = settings.tlsCertFile !== undefined;
  return [
    control(
      'production_checks',
      settings.appEnv === 'production',
      'APP_ENV=production refuses unsafe settings at start',
    ),
    control('secure_cookies', settings.secureCookie, 'SECURE_COOKIE: __Host- cookies, HSTS, redirect of http to https'),
    control('tls', tls, 'TLS_CERT_FILE and TLS_KEY_FILE: both listeners serve TLS 1.2 or later'),
    control('allowed_hosts', settings.allowedHosts.length > 0, 'ALLOWED_HOSTS: other host names are answered with 421'),
    control('ip_allowlist', settings.ipAllowlist.length > 0, 'IP_ALLOWLIST: other addresses are answered with 403'),
    control('cors', true, `CORS_ORIGINS: ${String(settings.corsOrigins.length)} origins are allowed by name, never *`),
    control('csrf', true, 'requests by cookie that change data carry X-CSRF-Token'),
    control('security_headers', true, 'helmet: CSP, no sniffing, no framing, referrer policy'),
    control(
      'encryption_at_rest',
      settings.encryptionKey !== undefined,
      'ENCRYPTION_KEY: stored credentials and personal data are sealed with AES-256-GCM',
    ),
    control(
      'api_key_pepper',
      settings.apiKeyPepper !== undefined,
      'API_KEY_PEPPER is mixed into every stored hash of a key',
    ),
    control(
      'audit_chain',
      settings.auditHmacKey !== undefined,
      'SVC_AUDIT_HMAC_KEY: the log is chained and sealed under a key of its own',
    ),
    control(
      'password_policy',
      settings.passwordRequireComplexity,
      `PASSWORD_REQUIRE_COMPLEXITY, at least ${String(settings.passwordMinLength)} characters`,
    ),
    control(
      'outbound_guard',
      true,
      settings.webhookAllowedPrivateNetworks.length > 0
        ? 'WEBHOOK_ALLOWED_PRIVATE_NETWORKS lets webhooks into the networks it names'
        : 'no webhook reaches a private network',
    ),
    control(
      'metrics_token',
      settings.metricsToken !== undefined,
      'METRICS_TOKEN guards the metrics; unset: super admins only',
    ),
  ];
}
