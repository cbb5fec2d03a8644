import type { ProtectionName } from '../../domain/traffic/protections.ts';
import type { RateTaken } from './rate-counters.ts';

export type ProtectionTaken = RateTaken & {
  /** Calls that one window allows. */
  readonly limit: number;
};

/** The built-in rate limits, counted over all processes of the installation. */
export type Protections = {
  /**
   * Counts one call of `subject` (a client address, an e-mail address, a user id) in the current window. The subject is
   * never stored in plain text.
   */
  take(name: ProtectionName, subject: string): Promise<ProtectionTaken>;
};
