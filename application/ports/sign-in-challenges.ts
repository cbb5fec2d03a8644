import type { SignInMethod } from '../../domain/identity/user-events.ts';

/** A sign-in that awaits its second factor. */
export type SignInChallenge = {
  readonly userId: string;
  readonly tenant: string;
  readonly method: SignInMethod;
  /** Revision of the user's last session-ending event when the challenge was opened; a later one invalidates it. */
  readonly sessionsRevision: number;
};

/** Sign-in challenges in the schema `operational`, stored by digest. */
export type SignInChallenges = {
  open(challenge: SignInChallenge, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  find(digest: string, now: Date): Promise<SignInChallenge | undefined>;
  /**
   * Consumes the challenge. Of concurrent calls, exactly one returns true. @returns false when it was consumed before
   */
  use(digest: string): Promise<boolean>;
  /** Deletes challenges that expired before `now`. @returns the number deleted */
  sweep(now: Date): Promise<number>;
};
