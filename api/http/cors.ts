import { ownValue } from '../../domain/own-value.ts';
/** The cross-origin policy, from the settings `CORS_*`. */
export type CorsPolicy = {
  /** Exact origins, such as `http://localhost:5173`. The service refuses to start with `*`. */
  readonly origins: readonly string[];
  /** `CORS_ALLOWED_DOMAINS`: the domain of a tenant is an allowed origin when it ends with one of these suffixes. */
  readonly allowedDomains?: readonly string[];
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  /** How long a browser may cache the response to a preflight request, in seconds. */
  readonly maxAge: number;
};

/** CORS headers by origin, as a flat list of alternating names and values. Computed once per configured origin. */
export type Cors = {
  /** Headers of every response. Empty for an unknown origin. */
  readonly simple: (origin: string | undefined) => readonly string[];
  /** Headers of the response to a preflight request. Empty for an unknown origin. */
  readonly preflight: (origin: string | undefined) => readonly string[];
};

/** CORS has no partial wildcards. `RateLimit-*` and `X-RateLimit-*` are sent as the full list of names. */
const WILDCARDS: Readonly<Record<string, readonly string[]>> = {
  'RateLimit-*': ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  'X-RateLimit-*': [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'X-RateLimit-Policy',
    'X-RateLimit-Exceeded',
  ],
};

const NONE: readonly string[] = [];

export type CorsOptions = {
  readonly policy: CorsPolicy;
  /** Says without I/O whether a host name belongs to a tenant. */
  readonly isTenantDomain: (host: string) => boolean;
};

/** Creates the CORS headers of a policy. */
export function createCors({ policy, isTenantDomain }: CorsOptions): Cors {
  const suffixes = (policy.allowedDomains ?? []).map((suffix) => suffix.toLowerCase().replace(/^\.?/, '.'));
  const exposed = policy.exposeHeaders.flatMap((name) => ownValue(WILDCARDS, name) ?? [name]).join(', ');
  const simple = new Map<string, readonly string[]>();
  const preflight = new Map<string, readonly string[]>();
  const allow = (origin: string) => ['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true'];
  const simpleOf = (origin: string) => [...allow(origin), 'Access-Control-Expose-Headers', exposed];
  const preflightOf = (origin: string) => [
    ...allow(origin),
    'Access-Control-Allow-Methods',
    policy.allowMethods.join(', '),
    'Access-Control-Allow-Headers',
    policy.allowHeaders.join(', '),
    'Access-Control-Max-Age',
    String(policy.maxAge),
  ];
  for (const origin of policy.origins) {
    simple.set(origin, simpleOf(origin));
    preflight.set(origin, preflightOf(origin));
  }
  return {
    simple: (origin) =>
      origin === undefined ? NONE : (simple.get(origin) ?? (isTenantOrigin(origin) ? simpleOf(origin) : NONE)),
    preflight: (origin) =>
      origin === undefined ? NONE : (preflight.get(origin) ?? (isTenantOrigin(origin) ? preflightOf(origin) : NONE)),
  };

  /** Not cached, because tenants and their domains change. */
  function isTenantOrigin(origin: string): boolean {
    if (suffixes.length === 0 || origin.length > 300 || !URL.canParse(origin)) return false;
    const { protocol, hostname, origin: canonical } = new URL(origin);
    if (canonical !== origin || (protocol !== 'https:' && protocol !== 'http:')) return false;
    return suffixes.some((suffix) => `.${hostname}`.endsWith(suffix)) && isTenantDomain(hostname);
  }
}
