import type { SignInMethod } from '../../domain/identity/user-events.ts';

/** A sign-in that waits for its second factor. */
export type SignInChallenge = {
  readonly userId: string;
  readonly tenant: string;
  readonly method: SignInMethod;
  /** Revision of the user's last session-ending event when it was opened; a later one ends it. */
  readonly sessionsRevision: number;
};

/** Challenges of sign-ins in `operational` (rule 1: no history), by digest. */
export type SignInChallenges = {
  open(challenge: SignInChallenge, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  find(digest: string, now: Date): Promise<SignInChallenge | undefined>;
  /** Uses it up. @returns false when it was used before: of two that come together one wins */
  use(digest: string): Promise<boolean>;
  /** Removes those that expired before `now`. @returns how many */
  purge(now: Date): Promise<number>;
};
