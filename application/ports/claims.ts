/** A unique value that a command wants to hold. `value` is normalised by the caller; only its HMAC is stored (rule 8). */
export type ClaimRequest = {
  readonly tenant: string;
  /** What must be unique, such as `entry/<content type id>/<field id>`, `content_type/name`, `user/email`. */
  readonly scope: string;
  readonly value: string;
};

/**
 * Unique values in `operational.claims`: claimed before the append, confirmed or released after it, reaped against the owner's stream.
 *
 * `command` names one run of a command (any unique text). Where several commands work on one owner at the same time, a claim obeys only the
 * command that touched it last; what that leaves undone, the reaper does. Leave it out only where an owner has one writer.
 */
export type Claims = {
  /**
   * Claims all values for the stream or none. Values the stream holds already are kept. Called again for every new decision of a command.
   * `releasing` names values that the append will give up, so that a crash before `confirm` is mended by the reaper.
   * @returns the requests that another stream holds; empty when all were claimed.
   */
  claim(owner: string, requests: readonly ClaimRequest[], releasing?: readonly ClaimRequest[], command?: string): Promise<readonly ClaimRequest[]>;
  /**
   * The append went through: of the values that the command touched in any of its decisions, those in `confirmed` are in the stream now and
   * those in `released` are not.
   */
  confirm(owner: string, confirmed: readonly ClaimRequest[], released: readonly ClaimRequest[], command?: string): Promise<void>;
  /** Which of the values another stream holds now, or is about to. Nothing is claimed. */
  heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]>;
  /** Stream that holds the value now, or is about to. */
  ownerOf(request: ClaimRequest): Promise<string | undefined>;
  /** The append surely did not go through: claims that are this command's alone go. */
  abandon(owner: string, requests: readonly ClaimRequest[], command?: string): Promise<void>;
  /**
   * Takes values that nobody holds for streams that seem to hold them; those that are held stay with their holder. The reaper then asks the
   * streams.
   */
  assume(values: ReadonlyMap<string, readonly ClaimRequest[]>): Promise<void>;
  /** Of what is claimed in the scope, all but these values is in doubt, unless a command is at it: the reaper asks the streams. */
  doubtOthers(scope: Pick<ClaimRequest, 'tenant' | 'scope'>, values: ReadonlyMap<string, readonly ClaimRequest[]>): Promise<void>;
  /**
   * A whole family of scopes is about to end: what all begin with `prefix`. Should the command not live to call `endScopes`, the reaper asks
   * every owner.
   */
  doubtScopes(tenant: string, prefix: string): Promise<void>;
  /** The scopes have ended: every value in them is free, whoever held it. */
  endScopes(tenant: string, prefix: string): Promise<void>;
};
