import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';

/** Where a projection writes: the live schema (`rm_<name>`) or the one that a rebuild fills beside it. */
export type Target = {
  /** Schema name, already quoted for SQL. */
  readonly schema: string;
  /** Nobody reads the schema before `finish`: what is dear to keep along with every batch may be left to that. */
  readonly bulk?: boolean;
};

/** One table of a read model as `rebuild` and `replay` prove it. */
export type ProjectedTable = {
  /** Name without schema. */
  readonly table: string;
  /** SQL expression of a row's canonical text, over the alias `t`; every value a replay must give back. Default: the whole row. */
  readonly canonical?: string;
};

/**
 * A read model: one Postgres schema `rm_<name>`, one projector, one checkpoint (spec 5, rule 6).
 * `apply` is a pure function of (rows, events): no clock, no randomness, no I/O but the transaction.
 */
export type Projection = {
  /** Lower-case word; the live schema is `rm_<name>`. */
  readonly name: string;
  /** Raised when tables or meaning change; another version than the stored one is rebuilt at start. */
  readonly version: number;
  /** Which events it reads. */
  readonly categories: readonly string[];
  /** Creates the empty tables inside the (existing, empty) schema. */
  create(tx: Transaction, target: Target): Promise<void>;
  /**
   * Writes a batch of events, in order, coalesced and set-based. Called once per batch inside the transaction that moves the checkpoint.
   * @throws on an event that can't be applied; the projector then stops and says so, it never skips.
   */
  apply(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void>;
  /** Makes what `create` and `apply` left out of a bulk target. Once, before the tables are digested, read or written to as live ones; doing it again changes nothing. */
  finish?(tx: Transaction, target: Target): Promise<void>;
  /** The tables there are now, for digests. */
  tables(tx: Transaction, target: Target): Promise<readonly ProjectedTable[]>;
  /** Runs inside the transaction that swaps a rebuilt schema in (views of other schemas that must follow). */
  afterSwap?(tx: Transaction, target: Target): Promise<void>;
};

/** Waiting for read models (spec 5, rule 7). */
export type ProjectionProgress = {
  /**
   * Resolves true when every named read model has reached the position, false after `timeoutMs`.
   * @throws `projection_stopped` when one of them has stopped.
   */
  waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean>;
  /** Latest known checkpoint of a read model. */
  position(name: string): GlobalPosition;
  /**
   * Calls back after every move of the read model (for caches made from it). `applied`: it changed, as far as is known here; else it only
   * moved over events of others. @returns how to stop it.
   */
  onMove(name: string, listener: (position: GlobalPosition, applied: boolean) => void): () => void;
};
