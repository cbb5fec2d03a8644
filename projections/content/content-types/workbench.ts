import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import type { FieldDefinition, SchemaStatement } from '../../../domain/content/definition.ts';
import { jsonExpression } from '../../../domain/content/field-types.ts';
import { columnOf } from '../../../domain/content/schema-diff.ts';
import type { ValueCheck } from '../../../domain/content/schema-diff.ts';
import { findUnconvertible } from '../../../domain/content/table-ddl.ts';
import type { Json } from '../../../domain/json.ts';
import type { Database, Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { isWithoutView } from './run-operations.ts';

type Trial = {
  readonly tenant: string;
  readonly table: string;
  readonly statements: readonly SchemaStatement[];
  readonly checks: readonly ValueCheck[];
};

type Scope = { readonly tenant: string; readonly names: readonly string[]; readonly tenantTypes: 'shared' | 'alone' };

type Value = { readonly entryId: string; readonly field: FieldDefinition; readonly value: Json };

type Outcome = { readonly outcome: 'passed'; readonly unique: readonly Value[] } | { readonly outcome: 'refused'; readonly reason: string } | { readonly outcome: 'locked' };

type Question = { readonly tenant: string; readonly table: string; readonly fields: readonly FieldDefinition[]; readonly deletedAt?: string | undefined };

type Session = ReturnType<typeof reader> & { tryOut(trial: Trial): Promise<Outcome> };

export type SchemaWorkbenchOptions = {
  readonly database: Database;
  /** How long a try-out waits for a table, in milliseconds. */
  readonly lockTimeoutMs?: number;
};

/** Waiting for a lock, or chosen to end a deadlock. */
const LOCK_FAULTS = ['55P03', '40P01'];
/** Classes of faults that are the values' or the definition's: data, integrity, limits (too many columns, too long rows), syntax and access rules. */
const REFUSALS = ['22', '23', '54', '42', '0A', '2B'];

/** Where changes of the typed tables are tried before they become events; implements the application's `SchemaWorkbench`. */
export function createSchemaWorkbench({ database, lockTimeoutMs = 3000 }: SchemaWorkbenchOptions) {
  // One at a time in this process: each holds a connection while it works, and must not wait for the others' second one.
  let last: Promise<unknown> = Promise.resolve();

  async function alone<T>(scope: Scope, work: (session: Session) => Promise<T>): Promise<{ readonly value: T } | undefined> {
    return database.transaction(async (tx) => {
      if (!(await lock(tx, scope))) return undefined;
      const session: Session = {
        ...reader(tx),
        tryOut: (trial) => tryOut(tx, trial, lockTimeoutMs),
      };
      return { value: await work(session) };
    });
  }

  return {
    ...reader(database),
    exclusively<T>(scope: Scope, work: (session: Session) => Promise<T>): Promise<{ readonly value: T } | undefined> {
      const result = last.then(() => alone(scope, work));
      last = result.catch(() => undefined);
      return result;
    },
  };
}

/** Names in one order everywhere. The locks go with the transaction, so a process that dies holds none. */
async function lock(tx: Transaction, { tenant, names, tenantTypes }: Scope): Promise<boolean> {
  const tryLock = tenantTypes === 'shared' ? 'pg_try_advisory_xact_lock_shared' : 'pg_try_advisory_xact_lock';
  if (!(await isFound(tx, `select ${tryLock}(hashtextextended('content_types_of/' || $1, 0)) as found`, [tenant]))) return false;
  for (const name of names.toSorted()) {
    if (!(await isFound(tx, `select pg_try_advisory_xact_lock(hashtextextended('content_type/' || $1, 0)) as found`, [name]))) return false;
  }
  return true;
}

function reader(db: Queryable) {
  return {
    valuesOf: (question: Question): Promise<readonly Value[]> => readValues(db, question),
    named: (name: string): Promise<readonly StoredContentType[]> => readContentTypes(db, LIVE, { name }),
    ofTenant: (tenant: string): Promise<readonly StoredContentType[]> => readContentTypes(db, LIVE, { tenant, live: true }),
  };
}

/** Everything is taken back, the locks on the table with it; the transaction goes on. */
async function tryOut(tx: Transaction, { tenant, table, statements, checks }: Trial, lockTimeoutMs: number): Promise<Outcome> {
  if (statements.length === 0 && checks.length === 0) return { outcome: 'passed', unique: [] };
  await tx.query('savepoint try_out');
  try {
    await tx.query(`set local lock_timeout to ${String(Math.ceil(lockTimeoutMs))}; set local timezone to 'UTC'; set local datestyle to 'ISO, YMD'`);
    const reason = (await findLoss(tx, table, statements)) ?? (await runAndCheck(tx, { tenant, table, statements, checks }));
    if (reason !== undefined) return { outcome: 'refused', reason };
    const unique = checks.filter(({ kind }) => kind === 'unique').map(({ field }) => field);
    return { outcome: 'passed', unique: await readValues(tx, { tenant, table, fields: unique }) };
  } catch (error) {
    const code = sqlState(error);
    if (LOCK_FAULTS.includes(code)) return { outcome: 'locked' };
    if (REFUSALS.includes(code.slice(0, 2))) return { outcome: 'refused', reason: code };
    throw error;
  } finally {
    await tx.query('rollback to savepoint try_out; release savepoint try_out').catch(() => undefined);
  }
}

async function findLoss(tx: Transaction, table: string, statements: readonly SchemaStatement[]): Promise<string | undefined> {
  for (const { operation, table: other = table } of statements) {
    if (operation.op !== 'convert_column') continue;
    const question = findUnconvertible({ schema: LIVE, table: other }, operation);
    if (question !== undefined && (await isFound(tx, question))) return `a value of ${operation.column} does not convert`;
  }
  return undefined;
}

async function runAndCheck(tx: Transaction, { tenant, table, statements, checks }: Trial): Promise<string | undefined> {
  for (const { sql, operation, table: other = table } of statements) {
    if (isWithoutView(operation)) await tx.query(`drop view if exists content.${quoteIdentifier(other)} cascade`);
    await tx.query(sql);
  }
  for (const check of checks) {
    const column = quoteIdentifier(keyOf(check.field));
    const rows = `from ${LIVE}.${quoteIdentifier(table)} where tenant_id = $1 and "_deleted_at" is null`;
    const question =
      check.kind === 'required'
        ? `select exists (select 1 ${rows} and (${column} is null${emptyToo(check.column)})) as found`
        : `select exists (select 1 ${rows} and ${column} is not null group by ${column} having count(*) > 1) as found`;
    if (await isFound(tx, question, [tenant])) return check.kind === 'required' ? `${check.field.name} is missing in an entry` : `${check.field.name} holds a value twice`;
  }
  return undefined;
}

async function readValues(db: Queryable, { tenant, table, fields, deletedAt }: Question): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (const field of fields) {
    const { name, type } = columnOf(field);
    const column = quoteIdentifier(name);
    const rows = await db.query<{ id: string; value: Json }>(
      `select id, to_json(${jsonExpression(type, column)}) as value from ${LIVE}.${quoteIdentifier(table)}
       where tenant_id = $1 and ("_deleted_at" is null or "_deleted_at" = $2::timestamptz) and ${column} is not null`,
      [tenant, deletedAt ?? null],
    );
    values.push(...rows.map(({ id, value }) => ({ entryId: id, field, value })));
  }
  return values;
}

/** What else than null counts as no value. */
function emptyToo({ name, type }: ValueCheck['column']): string {
  if (type !== 'text' && type !== 'uuid[]') return '';
  return ` or ${quoteIdentifier(name)} = '${type === 'text' ? '' : '{}'}'`;
}

async function isFound(tx: Transaction, question: string, values?: readonly unknown[]): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(question, values);
  return row?.found === true;
}

function sqlState(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
