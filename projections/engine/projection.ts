import type { RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';

/** Where a projection writes: the live schema (`rm_<name>`) or the schema that a rebuild fills beside it. */
export type Target = {
  /** Schema name, already quoted for SQL. */
  readonly schema: string;
  /** The schema is not read before `finish`, so work that is expensive per batch may be left to `finish`. */
  readonly bulk?: boolean;
};

/** A table of a read model whose content `rebuild` and `replay` compare. */
export type ProjectedTable = {
  /** Name without schema. */
  readonly table: string;
  /**
   * SQL expression, over the alias `t`, of the canonical text of a row: every value that a replay must reproduce.
   * Default: the whole row.
   */
  readonly canonical?: string;
};

/**
 * A read model: one Postgres schema `rm_<name>`, one projector, one checkpoint. `apply` is a pure function of rows and
 * events: no clock, no randomness, no I/O except the transaction.
 */
export type Projection = {
  /** Lower-case word; the live schema is `rm_<name>`. */
  readonly name: string;
  /** Increased when the tables or their meaning change. At start, a read model of another version is rebuilt. */
  readonly version: number;
  /** Categories of the events it reads. */
  readonly categories: readonly string[];
  /** Creates the tables in an existing, empty schema. */
  create(tx: Transaction, target: Target): Promise<void>;
  /**
   * Applies a batch of events in order, with set-based statements and one write per row. Called once per batch, in the
   * transaction that moves the checkpoint.
   * @throws when an event cannot be applied; the projector then stops at it and never skips it
   */
  apply(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void>;
  /**
   * Completes a bulk target with what `create` and `apply` left out. Called before its tables are digested, read or
   * written as live tables. Idempotent.
   */
  finish?(tx: Transaction, target: Target): Promise<void>;
  /** The current tables, for digests. */
  tables(tx: Transaction, target: Target): Promise<readonly ProjectedTable[]>;
  /** Runs in the transaction that swaps in a rebuilt schema, for example to recreate views of other schemas. */
  afterSwap?(tx: Transaction, target: Target): Promise<void>;
};
