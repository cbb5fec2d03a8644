/** A unique value that a command claims. The caller normalises `value`; only its HMAC is stored. */
export type ClaimRequest = {
  readonly tenant: string;
  /** What must be unique, such as `entry/<content type id>/<field id>`, `content_type/name`, `user/email`. */
  readonly scope: string;
  readonly value: string;
};

/**
 * Claims of unique values in `operational.claims`. A command claims before its append and confirms, releases or
 * abandons after it. The reaper compares claims left open with the owner's stream.
 *
 * `command` identifies one run of a command (any unique text). When several commands work on one owner concurrently,
 * only the command that touched a claim last may change it; the reaper completes what the other commands leave open.
 * Omit it only where an owner has one writer.
 */
export type Claims = {
  /**
   * Claims all values for the stream, or none. Claims that the stream already has are kept. A command calls this again
   * for each new decision. `releasing` names values that the append will release, so that the reaper can release them
   * after a crash before `confirm`.
   * @returns the requests that another stream has claimed; empty when all were claimed
   */
  claim(
    owner: string,
    requests: readonly ClaimRequest[],
    releasing?: readonly ClaimRequest[],
    command?: string,
  ): Promise<readonly ClaimRequest[]>;
  /**
   * Records a successful append: of the values that the command touched in any of its decisions, the stream now has
   * those in `confirmed` and no longer has those in `released`.
   */
  confirm(
    owner: string,
    confirmed: readonly ClaimRequest[],
    released: readonly ClaimRequest[],
    command?: string,
  ): Promise<void>;
  /** Returns the requests whose values another stream has claimed. Claims nothing. */
  heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]>;
  /** The stream that has claimed the value, confirmed or not. */
  ownerOf(request: ClaimRequest): Promise<string | undefined>;
  /** Records an append that is known to have failed: deletes the claims that belong to this command only. */
  abandon(owner: string, requests: readonly ClaimRequest[], command?: string): Promise<void>;
  /**
   * Claims unclaimed values for streams that appear to have them; existing claims are kept. The reaper then checks the
   * streams.
   */
  assume(values: ReadonlyMap<string, readonly ClaimRequest[]>): Promise<void>;
  /**
   * Marks all other claims in the scope as doubtful, except claims that a command is working on. The reaper checks
   * their streams.
   */
  doubtOthers(
    scope: Pick<ClaimRequest, 'tenant' | 'scope'>,
    values: ReadonlyMap<string, readonly ClaimRequest[]>,
  ): Promise<void>;
  /**
   * Marks the claims in all scopes that begin with `prefix` as doubtful, before these scopes end. If the command
   * crashes before `endScopes`, the reaper checks every owner.
   */
  doubtScopes(tenant: string, prefix: string): Promise<void>;
  /** Deletes all claims in the scopes that begin with `prefix`, regardless of their owners. */
  endScopes(tenant: string, prefix: string): Promise<void>;
};
