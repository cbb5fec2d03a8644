import type { Sealed } from './vault.ts';

/** A link as it is kept: its token by digest, its address sealed. */
export type MagicLink = {
  readonly digest: string;
  readonly tenant: string;
  /** Host that it was built on and works on; null: the console URL. */
  readonly host: string | null;
  readonly email: Sealed;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** What became of a redeemed link. */
export type MagicLinkOutcome = 'signed_in' | 'challenged';

/** One entry of the sign-in history. `address`: the client's, sealed under the person's key. */
export type MagicLinkSignIn = { readonly id: string; readonly tenant: string; readonly userId: string; readonly outcome: MagicLinkOutcome; readonly newUser: boolean; readonly at: Date; readonly address: Sealed };

/** Links that were mailed, in `operational` (rule 1: no history), and the history of sign-ins by them. */
export type MagicLinks = {
  issue(link: MagicLink): Promise<void>;
  /** @returns undefined for a token that is none, or whose link was used */
  find(digest: string): Promise<MagicLink | undefined>;
  /** Uses a link up. @returns false when it was before: of many that come together one wins */
  use(digest: string, now: Date): Promise<boolean>;
  /** Makes a link usable again whose sign-in could not be finished. */
  giveBack(digest: string): Promise<void>;
  /** Removes the records of links made before then, and never of one that still works. @returns how many */
  purge(createdBefore: Date, now: Date): Promise<number>;
  record(signIn: MagicLinkSignIn): Promise<void>;
  /** Removes history from before then. @returns how many */
  purgeHistory(before: Date): Promise<number>;
};
