import type { RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';

/** Where a projection writes: the live schema (`rm_<name>`) or the schema that a rebuild fills beside it. */
export type Target = {
  /** Schema name, already quoted for SQL. */
  readonly schema: string;
  /** The schema is not read before `finish`, so work that is expensive per batch may be left to `finish`. */
  readonly bulk?: boolean;
};

/** Runs work in a transaction of its own. */
export type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

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
   * @throws when an event cannot be applied. An error of the data or of this code parks the stream of the event; other
   * errors stop the projector or are retried.
   */
  apply(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void>;
  /** Other streams of the same tenant that must have been applied before the event. Default: none. */
  dependsOn?(event: RecordedEvent): readonly string[];
  /**
   * The name of the table that an event changes besides those that `create` makes. A transaction changes a bounded
   * number of them, because the server has locks for a bounded number.
   */
  tableOf?(event: RecordedEvent): string | undefined;
  /**
   * Completes a bulk target with what `create` and `apply` left out. Called before its tables are digested, read or
   * written as live tables. Idempotent. Each transaction touches a bounded number of tables.
   */
  finish?(run: InTransaction, target: Target): Promise<void>;
  /** The current tables, for digests. */
  tables(tx: Transaction, target: Target): Promise<readonly ProjectedTable[]>;
  /**
   * Runs after a rebuilt schema was swapped in and before the replaced one is dropped, for example to recreate views of
   * other schemas. Idempotent. Each transaction touches a bounded number of tables.
   */
  afterSwap?(run: InTransaction, target: Target): Promise<void>;
};
