import type { ClaimKey } from './event-store.ts';

/** A unique value that a command claims. The caller normalises `value`; only its HMAC is stored. */
export type ClaimRequest = {
  readonly tenant: string;
  /** What must be unique, such as `entry/<content type id>/<field id>`, `content_type/name`, `user/email`. */
  readonly scope: string;
  readonly value: string;
};

/** What one decision changes: values that the stream takes, and values that it gives up. */
export type ClaimChange = {
  /** Stream that holds the values. */
  readonly owner: string;
  readonly claimed: readonly ClaimRequest[];
  readonly released?: readonly ClaimRequest[] | undefined;
};

/** One run of a command: any unique text. Omit it only where an owner has one writer. */
export type ClaimRun = { readonly command?: string | undefined };

/** The values that each owner stream appears to hold. */
export type ValuesByOwner = ReadonlyMap<string, readonly ClaimRequest[]>;

/**
 * Claims of unique values in `operational.claims`. A command claims before its append and confirms, releases or
 * abandons after it. Until then the claims are unsettled: the reaper compares unsettled claims that a command left with
 * the owner's stream.
 *
 * When several commands work on one owner concurrently, only the command that touched a claim last may change it; the
 * reaper settles what the other commands leave.
 */
export type Claims = {
  /** The keys of values, for an append that takes or releases them itself. */
  keysOf(requests: readonly ClaimRequest[]): readonly ClaimKey[];
  /**
   * Claims all values for the stream, or none. Claims that the stream already has are kept. A command calls this again
   * for each new decision. The claims of `released` become unsettled, so that the reaper can release them after a crash
   * before `confirm`.
   * @returns the requests that another stream has claimed; empty when all were claimed
   */
  claim(change: ClaimChange & ClaimRun): Promise<readonly ClaimRequest[]>;
  /**
   * Records a successful append: of the values that the command touched in any of its decisions, the stream now has
   * those in `confirmed` and no longer has those in `released`.
   */
  confirm(
    held: {
      readonly owner: string;
      readonly confirmed: readonly ClaimRequest[];
      readonly released: readonly ClaimRequest[];
    } & ClaimRun,
  ): Promise<void>;
  /** Returns the requests whose values another stream has claimed. Claims nothing. */
  heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]>;
  /** The stream that has claimed the value, confirmed or not. */
  ownerOf(request: ClaimRequest): Promise<string | undefined>;
  /** Records an append that is known to have failed: deletes the claims that belong to this command only. */
  abandon(claims: Pick<ClaimChange, 'owner' | 'claimed'> & ClaimRun): Promise<void>;
  /** Claims unclaimed values for streams that appear to have them, unsettled; existing claims are kept. */
  backfill(values: ValuesByOwner): Promise<void>;
  /** Makes all claims in the scope unsettled, except those of `values` and those that a command is working on. */
  unsettleOthers(input: Pick<ClaimRequest, 'tenant' | 'scope'> & { readonly values: ValuesByOwner }): Promise<void>;
  /**
   * Makes the claims in all scopes that begin with `prefix` unsettled, before these scopes end. If the command crashes
   * before `releaseScopes`, the reaper checks every owner.
   */
  unsettleScopes(scopes: ClaimScopes): Promise<void>;
  /** Deletes all claims in the scopes that begin with `prefix`, regardless of their owners. */
  releaseScopes(scopes: ClaimScopes): Promise<void>;
};

/** All scopes of a tenant that begin with `prefix`. */
export type ClaimScopes = { readonly tenant: string; readonly prefix: string };
