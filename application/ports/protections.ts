import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { RateTaken } from './rate-counters.ts';

export type ProtectionTaken = RateTaken & {
  /** What one window allows. */
  readonly limit: number;
};

/** The built-in protections, counted over all processes of the install (spec 1, limits, rate limiting). */
export type Protections = {
  /** Takes one of what `subject` (a client address, an e-mail address, a user's id) may do in a window; the subject is never stored in clear. */
  take(name: ProtectionName, subject: string): Promise<ProtectionTaken>;
};
