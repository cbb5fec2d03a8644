/** How often something may be done in a window of time. */
export type ProtectionLimit = { readonly requests: number; readonly windowSeconds: number };

/** The built-in protections as they ship (spec 1, limits, rate limiting; spec 4 A, sign-in details). */
export const PROTECTIONS = {
  /** Sign-ins by password per client address, over both routes. */
  'login.ip': { requests: 5, windowSeconds: 900 },
  /** Reset mails per address. */
  'password-reset.email': { requests: 1, windowSeconds: 300 },
  /** Reset requests per client address. */
  'password-reset.ip': { requests: 10, windowSeconds: 60 },
  /** Link requests per address. */
  'magic-link.email': { requests: 3, windowSeconds: 900 },
  /** Link requests per client address. */
  'magic-link.request-ip': { requests: 60, windowSeconds: 900 },
  /** Redemptions per client address. */
  'magic-link.verify-ip': { requests: 120, windowSeconds: 900 },
  /** Code checks per user. */
  'mfa.verify': { requests: 5, windowSeconds: 300 },
  /** Authenticator setups per user. */
  'mfa.setup': { requests: 3, windowSeconds: 3600 },
} as const satisfies Readonly<Record<string, ProtectionLimit>>;

export type ProtectionName = keyof typeof PROTECTIONS;

/** Limits in place of those that ship. */
export type ProtectionLimits = Partial<Readonly<Record<ProtectionName, ProtectionLimit>>>;
