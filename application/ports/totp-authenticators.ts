import type { SealedValue } from '../../domain/sealed-value.ts';

/**
 * The state of authenticators that is not in the event store: enrolments that are not confirmed yet, and the last time
 * step used.
 */
export type TotpAuthenticators = {
  /** Stores the secret of an enrolment until the given time. Replaces an earlier unconfirmed one. */
  propose(userId: string, secret: SealedValue, until: Date): Promise<void>;
  /** The secret of the unconfirmed enrolment; undefined when none exists or it has expired. */
  proposed(userId: string, now: Date): Promise<SealedValue | undefined>;
  /**
   * Marks the time step of a code as used. Of concurrent calls with one step, exactly one returns true.
   * @returns false when this or a later step was used before
   */
  useStep(userId: string, step: number): Promise<boolean>;
  /** Deletes the enrolment after it was confirmed. */
  deleteProposed(userId: string): Promise<void>;
};
