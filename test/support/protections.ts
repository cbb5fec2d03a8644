import type { ProtectionLimits } from '../../domain/traffic/protections.ts';

/** Suites sign in all the time from one address. Those about the limits themselves ask for `{}`, which are the limits that ship. */
export const ROOMY: ProtectionLimits = { 'login.ip': { requests: 100_000, windowSeconds: 900 } };
