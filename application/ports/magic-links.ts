import type { SealedValue } from '../../domain/sealed-value.ts';

/** A stored magic link: the digest of its token and the sealed e-mail address. */
export type MagicLink = {
  readonly digest: string;
  readonly tenant: string;
  /** The host that the link was created for and works on; null for the console URL. */
  readonly host: string | null;
  readonly email: SealedValue;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** The outcome of a redeemed link. */
export type MagicLinkOutcome = 'signed_in' | 'challenged';

/** One entry of the sign-in history. `address` is the client's address, sealed under the person's key. */
export type MagicLinkSignIn = {
  readonly id: string;
  readonly tenant: string;
  readonly userId: string;
  readonly outcome: MagicLinkOutcome;
  readonly newUser: boolean;
  readonly at: Date;
  readonly address: SealedValue;
};

/** Mailed links and the history of sign-ins with them, in the schema `operational`. */
export type MagicLinks = {
  issue(link: MagicLink): Promise<void>;
  /** @returns undefined when the token is unknown or its link was used */
  find(digest: string): Promise<MagicLink | undefined>;
  /** Marks a link as used. Of concurrent calls, exactly one returns true. @returns false when it was used before */
  use(digest: string, now: Date): Promise<boolean>;
  /** Makes a used link valid again when its sign-in could not be completed. */
  markUnused(digest: string): Promise<void>;
  /** Deletes links created before `createdBefore`, except links that are still valid. @returns the number deleted */
  sweep(createdBefore: Date, now: Date): Promise<number>;
  record(signIn: MagicLinkSignIn): Promise<void>;
  /** Deletes history entries before the given time. @returns the number deleted */
  sweepHistory(before: Date): Promise<number>;
};
