/** A rate limit in fixed windows. */
export type ProtectionLimit = { readonly requests: number; readonly windowSeconds: number };

/** The built-in protections with their default limits. */
export const PROTECTIONS = {
  /** Sign-ins with a password per client address, on both APIs together. */
  'login.ip': { requests: 5, windowSeconds: 900 },
  /** Password reset mails per e-mail address. */
  'password-reset.email': { requests: 1, windowSeconds: 300 },
  /** Password reset requests per client address. */
  'password-reset.ip': { requests: 10, windowSeconds: 60 },
  /** Magic link requests per e-mail address. */
  'magic-link.email': { requests: 3, windowSeconds: 900 },
  /** Magic link requests per client address. */
  'magic-link.request-ip': { requests: 60, windowSeconds: 900 },
  /** Magic link redemptions per client address. */
  'magic-link.verify-ip': { requests: 120, windowSeconds: 900 },
  /** Checks of second-factor codes per user. */
  'mfa.verify': { requests: 5, windowSeconds: 300 },
  /** Authenticator setups per user. */
  'mfa.setup': { requests: 3, windowSeconds: 3600 },
} as const satisfies Readonly<Record<string, ProtectionLimit>>;

export type ProtectionName = keyof typeof PROTECTIONS;

/** Limits that replace the defaults. */
export type ProtectionLimits = Partial<Readonly<Record<ProtectionName, ProtectionLimit>>>;
