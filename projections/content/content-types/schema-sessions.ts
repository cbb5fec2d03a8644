import type {
  ContentTypeReader,
  EntryValue,
  SchemaScope,
  SchemaSession,
  SchemaSessions,
  SchemaTrial,
  TrialOutcome,
  ValueQuestion,
} from '../../../application/ports/schema-sessions.ts';
import { codeOf } from '../../../domain/code-of.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import { type ValueCheck, columnOf } from '../../../domain/content/schema-diff.ts';
import type { SchemaStatement } from '../../../domain/content/schema-statement.ts';
import type { Json } from '../../../domain/json.ts';
import type { Database, Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { lossQuery } from './column-conversion.ts';
import { jsonExpression } from './column-sql.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { requiresViewDrop } from './run-operations.ts';

export type SchemaSessionsOptions = {
  readonly database: Database;
  /** How long a trial waits for the lock on a table, in milliseconds. Default 3000. */
  readonly lockTimeoutMs?: number;
};

/** SQLSTATE of a lock that was not available in time, and of a detected deadlock. */
const LOCK_ERRORS = ['55P03', '40P01'];
/**
 * Classes of SQLSTATE that the values or the definition cause: data, integrity, limits (too many columns, too long
 * rows), syntax and access, unsupported features, dependent objects.
 */
const REFUSALS = ['22', '23', '54', '42', '0A', '2B'];

/** Tries changes of the typed tables in PostgreSQL before they become events (port `SchemaSessions`). */
export function createSchemaSessions({ database, lockTimeoutMs = 3000 }: SchemaSessionsOptions): SchemaSessions {
  // In this process the sessions of a tenant, and those of one name, run one after another instead of being refused.
  const sessions = new Set<{ readonly scope: SchemaScope; readonly ended: Promise<void> }>();

  async function underLocks<T>(
    scope: SchemaScope,
    work: (session: SchemaSession) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    return database.outerTransaction(
      async (tx) => {
        if (!(await lock(tx, scope))) return undefined;
        const session: SchemaSession = {
          ...reader(tx),
          tryOut: (trial) => tryOut(tx, trial, lockTimeoutMs),
        };
        return { value: await work(session) };
      },
      { workClass: 'unlimited' },
    );
  }

  return {
    ...reader(database),
    exclusively<T>(
      scope: SchemaScope,
      work: (session: SchemaSession) => Promise<T>,
    ): Promise<{ readonly value: T } | undefined> {
      const earlier = [...sessions].filter((session) => conflict(session.scope, scope)).map(({ ended }) => ended);
      const result = Promise.all(earlier).then(() => underLocks(scope, work));
      const ignore = (): void => undefined;
      const session = { scope, ended: result.then(ignore, ignore) };
      sessions.add(session);
      void session.ended.then(() => sessions.delete(session));
      return result;
    },
  };
}

function conflict(a: SchemaScope, b: SchemaScope): boolean {
  return a.tenant === b.tenant || a.names.some((name) => b.names.includes(name));
}

/**
 * Takes the advisory locks of the scope without waiting, the names in sorted order. They end with the transaction, so a
 * process that dies holds none. @returns false when another process holds one of them
 */
async function lock(tx: Transaction, { tenant, names, tenantTypes }: SchemaScope): Promise<boolean> {
  const tryLock = tenantTypes === 'shared' ? 'pg_try_advisory_xact_lock_shared' : 'pg_try_advisory_xact_lock';
  if (!(await isFound(tx, `select ${tryLock}(hashtextextended('content_types_of/' || $1, 0)) as found`, [tenant])))
    return false;
  for (const name of names.toSorted()) {
    if (
      !(await isFound(tx, `select pg_try_advisory_xact_lock(hashtextextended('content_type/' || $1, 0)) as found`, [
        name,
      ]))
    )
      return false;
  }
  return true;
}

function reader(queryable: Queryable): ContentTypeReader {
  return {
    valuesOf: (question) => readValues(queryable, question),
    named: (name) => readContentTypes(queryable, LIVE, { name }),
    ofTenant: (tenant) => readContentTypes(queryable, LIVE, { tenant, live: true }),
  };
}

/**
 * Runs the statements and checks in a savepoint, then rolls it back. This also releases the locks on the table; the
 * transaction continues.
 */
async function tryOut(
  tx: Transaction,
  { tenant, table, statements, checks }: SchemaTrial,
  lockTimeoutMs: number,
): Promise<TrialOutcome> {
  if (statements.length === 0 && checks.length === 0) return { outcome: 'passed', unique: [] };
  await tx.query('savepoint try_out');
  try {
    await tx.query(
      `set local lock_timeout to ${String(Math.ceil(lockTimeoutMs))}; set local timezone to 'UTC';
       set local datestyle to 'ISO, YMD'`,
    );
    const reason =
      (await findLoss(tx, table, statements)) ?? (await runAndCheck(tx, { tenant, table, statements, checks }));
    if (reason !== undefined) return { outcome: 'refused', reason };
    const unique = checks.filter(({ kind }) => kind === 'unique').map(({ field }) => field);
    return { outcome: 'passed', unique: await readValues(tx, { tenant, table, fields: unique }) };
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (LOCK_ERRORS.includes(code)) return { outcome: 'locked' };
    if (REFUSALS.includes(code.slice(0, 2))) return { outcome: 'refused', reason: code };
    throw error;
  } finally {
    await tx.query('rollback to savepoint try_out; release savepoint try_out').catch(() => undefined);
  }
}

async function findLoss(
  tx: Transaction,
  table: string,
  statements: readonly SchemaStatement[],
): Promise<string | undefined> {
  for (const { operation, table: other = table } of statements) {
    if (operation.op !== 'convert_column') continue;
    const question = lossQuery({ schema: LIVE, table: other }, operation);
    if (question !== undefined && (await isFound(tx, question)))
      return `a value of ${operation.column} does not convert`;
  }
  return undefined;
}

async function runAndCheck(
  tx: Transaction,
  { tenant, table, statements, checks }: SchemaTrial,
): Promise<string | undefined> {
  for (const { sql, operation, table: other = table } of statements) {
    if (requiresViewDrop(operation)) await tx.query(`drop view if exists content.${quoteIdentifier(other)} cascade`);
    await tx.query(sql);
  }
  for (const check of checks) {
    const column = quoteIdentifier(keyOf(check.field));
    const rows = `from ${LIVE}.${quoteIdentifier(table)} where tenant_id = $1 and "_deleted_at" is null`;
    const question =
      check.kind === 'required'
        ? `select exists (select 1 ${rows} and (${column} is null${orEmpty(check.column)})) as found`
        : `select exists (select 1 ${rows} and ${column} is not null group by ${column} having count(*) > 1) as found`;
    if (await isFound(tx, question, [tenant]))
      return check.kind === 'required'
        ? `${check.field.name} is missing in an entry`
        : `${check.field.name} holds a value twice`;
  }
  return undefined;
}

async function readValues(
  queryable: Queryable,
  { tenant, table, fields, deletedAt }: ValueQuestion,
): Promise<readonly EntryValue[]> {
  const values: EntryValue[] = [];
  for (const field of fields) {
    const { name, type } = columnOf(field);
    const column = quoteIdentifier(name);
    const rows = await queryable.query<{ id: string; value: Json }>(
      `select id, to_json(${jsonExpression(type, column)}) as value from ${LIVE}.${quoteIdentifier(table)}
       where tenant_id = $1 and ("_deleted_at" is null or "_deleted_at" = $2::timestamptz) and ${column} is not null`,
      [tenant, deletedAt ?? null],
    );
    values.push(...rows.map(({ id, value }) => ({ entryId: id, field, value })));
  }
  return values;
}

/** SQL that adds the empty values of a text or a list of ids to a check for null. */
function orEmpty({ name, type }: ValueCheck['column']): string {
  if (type !== 'text' && type !== 'uuid[]') return '';
  return ` or ${quoteIdentifier(name)} = '${type === 'text' ? '' : '{}'}'`;
}

async function isFound(tx: Transaction, question: string, values?: readonly unknown[]): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(question, values);
  return row?.found === true;
}
