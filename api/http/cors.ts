/** Cross-origin policy (spec 1, Configuration, `CORS_*`). */
export type CorsPolicy = {
  /** Origins to the letter, such as `http://localhost:5173`; `*` is refused at start. */
  readonly origins: readonly string[];
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

export function createCors(policy: CorsPolicy): Cors {
  const exposed = policy.exposeHeaders.flatMap((name) => WILDCARDS[name] ?? [name]).join(', ');
  const simple = new Map<string, readonly string[]>();
  const preflight = new Map<string, readonly string[]>();
  for (const origin of policy.origins) {
    const allow = ['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true'];
    simple.set(origin, [...allow, 'Access-Control-Expose-Headers', exposed]);
    preflight.set(origin, [
      ...allow,
      'Access-Control-Allow-Methods', policy.allowMethods.join(', '),
      'Access-Control-Allow-Headers', policy.allowHeaders.join(', '),
      'Access-Control-Max-Age', String(policy.maxAge),
    ]);
  }
  return {
    simple: (origin) => (origin === undefined ? NONE : (simple.get(origin) ?? NONE)),
    preflight: (origin) => (origin === undefined ? NONE : (preflight.get(origin) ?? NONE)),
  };
}
