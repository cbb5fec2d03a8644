/** A unique value that a command wants to hold. `value` is normalised by the caller; only its HMAC is stored (rule 8). */
export type ClaimRequest = {
  readonly tenant: string;
  /** What must be unique, such as `entry/<content type id>/<field id>`, `content_type/name`, `user/email`. */
  readonly scope: string;
  readonly value: string;
};

/** Unique values in `operational.claims`: claimed before the append, confirmed or released after it, reaped against the owner's stream. */
export type Claims = {
  /**
   * Claims all values for the stream or none. Values the stream holds already are kept.
   * `releasing` names values that the append will give up, so that a crash before `confirm` is mended by the reaper.
   * @returns the requests that another stream holds; empty when all were claimed.
   */
  claim(owner: string, requests: readonly ClaimRequest[], releasing?: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]>;
  /** The append went through: the claims stay, and the owner's other claims named in `released` go. */
  confirm(owner: string, confirmed: readonly ClaimRequest[], released: readonly ClaimRequest[]): Promise<void>;
  /** The append did not go through: unconfirmed claims of the owner on these values go. */
  abandon(owner: string, requests: readonly ClaimRequest[]): Promise<void>;
};
