import type { Sealed } from './vault.ts';

/** What of authenticators is no history: set-ups not yet confirmed, and which code was used last. */
export type Authenticators = {
  /** Keeps the secret of a set-up until then, in place of an earlier one. */
  propose(userId: string, secret: Sealed, until: Date): Promise<void>;
  /** The secret of a set-up that still waits to be confirmed. */
  proposed(userId: string, now: Date): Promise<Sealed | undefined>;
  /** Marks a code's time step as used. @returns false when it, or a later one, was used before: of many that come together one wins */
  useStep(userId: string, step: number): Promise<boolean>;
  /** Forgets a set-up that was confirmed. */
  settle(userId: string): Promise<void>;
};
