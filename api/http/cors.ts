/** Cross-origin policy (spec 1, Configuration, `CORS_*`). */
export type CorsPolicy = {
  /** Origins to the letter, such as `http://localhost:5173`; `*` is refused at start. */
  readonly origins: readonly string[];
  /** `CORS_ALLOWED_DOMAINS`: a tenant's domain below one of these suffixes counts as an origin. */
  readonly allowedDomains?: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  /** Seconds a browser may keep a preflight's answer. */
  readonly maxAge: number;
};

/** Headers of answers by origin, name and value by turns; computed once per origin. */
export type Cors = {
  /** For any answer. Empty for an unknown origin. */
  readonly simple: (origin: string | undefined) => readonly string[];
  /** For the answer to a preflight request. */
  readonly preflight: (origin: string | undefined) => readonly string[];
};

/** CORS knows no partial wildcards: the documented `RateLimit-*` and `X-RateLimit-*` are sent as the names that exist. */
const WILDCARDS: Readonly<Record<string, readonly string[]>> = {
  'RateLimit-*': ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  'X-RateLimit-*': ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Policy', 'X-RateLimit-Exceeded'],
};

const NONE: readonly string[] = [];

/** `isTenantDomain`: whether a host name resolves a tenant, by what is in memory. */
export function createCors(policy: CorsPolicy, isTenantDomain: (host: string) => boolean = () => false): Cors {
  const suffixes = (policy.allowedDomains ?? []).map((suffix) => suffix.toLowerCase().replace(/^\.?/, '.'));
  const exposed = policy.exposeHeaders.flatMap((name) => WILDCARDS[name] ?? [name]).join(', ');
  const simple = new Map<string, readonly string[]>();
  const preflight = new Map<string, readonly string[]>();
  const allow = (origin: string) => ['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true'];
  const simpleOf = (origin: string) => [...allow(origin), 'Access-Control-Expose-Headers', exposed];
  const preflightOf = (origin: string) => [
    ...allow(origin),
    'Access-Control-Allow-Methods', policy.allowMethods.join(', '),
    'Access-Control-Allow-Headers', policy.allowHeaders.join(', '),
    'Access-Control-Max-Age', String(policy.maxAge),
  ];
  for (const origin of policy.origins) {
    simple.set(origin, simpleOf(origin));
    preflight.set(origin, preflightOf(origin));
  }
  return {
    simple: (origin) => (origin === undefined ? NONE : (simple.get(origin) ?? (isTenants(origin) ? simpleOf(origin) : NONE))),
    preflight: (origin) => (origin === undefined ? NONE : (preflight.get(origin) ?? (isTenants(origin) ? preflightOf(origin) : NONE))),
  };

  /** Asked anew each time: tenants come and go. */
  function isTenants(origin: string): boolean {
    if (suffixes.length === 0 || origin.length > 300 || !URL.canParse(origin)) return false;
    const { protocol, hostname, origin: canonical } = new URL(origin);
    if (canonical !== origin || (protocol !== 'https:' && protocol !== 'http:')) return false;
    return suffixes.some((suffix) => `.${hostname}`.endsWith(suffix)) && isTenantDomain(hostname);
  }
}
