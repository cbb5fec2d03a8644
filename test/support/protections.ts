import type { ProtectionLimits } from '../../domain/traffic/protections.ts';

/**
 * Limits for tests that sign in many times from one address. Tests of the limits themselves pass `{}`, which selects
 * the default limits.
 */
export const HIGH_SIGN_IN_LIMITS: ProtectionLimits = { 'login.ip': { requests: 100_000, windowSeconds: 900 } };
