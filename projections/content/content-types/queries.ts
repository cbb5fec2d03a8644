import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE, MOMENT, readContentTypes } from './rows.ts';

const STATEMENT = `s.id, s.description, s.sql, s.down_sql, s.destructive, s.state, s.reason, s.actor,
  to_char(s.applied_at at time zone 'UTC', ${MOMENT}) as applied_at, to_char(s.created_at at time zone 'UTC', ${MOMENT}) as created_at`;

/** A statement as history shows it (spec 4 B). */
export type StatementRecord = {
  readonly id: string;
  readonly description: string;
  readonly sql: string;
  readonly down_sql: string;
  readonly destructive: boolean;
  readonly state: 'applied' | 'pending' | 'canceled' | 'failed';
  readonly applied_at: string | null;
  readonly created_at: string;
  readonly actor: JsonObject;
  /** Why the database refused it. */
  readonly reason: string | null;
};

/** A queued statement and the content type that it is of. */
export type QueuedStatement = StatementRecord & { readonly name: string };

export type ContentTypeStats = { readonly rows: number; readonly last_updated: string | null };

/** Queries of the read model's definitions and statements, bound to a database. Every one asks for one tenant. */
export function contentTypeQueries(database: Database) {
  return {
    /** The tenant's content types in force, by name. */
    list: (tenant: string) => readContentTypes(database, LIVE, { tenant, live: true }),
    one: async (tenant: string, name: string) => (await readContentTypes(database, LIVE, { tenant, name, live: true }))[0],
    /** Entries there are, and when one was last written. The type must be the tenant's. */
    async stats(tenant: string, name: string): Promise<ContentTypeStats> {
      const [row] = await database.query<ContentTypeStats>(
        `select count(*) as rows, to_char(max("_updated_at") at time zone 'UTC', ${MOMENT}) as last_updated
         from ${LIVE}.${quoteIdentifier(name)} where tenant_id = $1 and "_deleted_at" is null`,
        [tenant],
      );
      return row ?? { rows: 0, last_updated: null };
    },
    /** Statements of a content type, newest first, a save's last one first. */
    history: (tenant: string, typeId: string): Promise<readonly StatementRecord[]> =>
      database.query<StatementRecord>(
        `select ${STATEMENT} from ${LIVE}._statements s where tenant_id = $1 and type_id = $2 order by revision desc, ordinal desc`,
        [tenant, typeId],
      ),
    /** Queued statements of the tenant's content types in force, by name, oldest first: those that wait and those that the database refused. */
    queued: (tenant: string): Promise<readonly QueuedStatement[]> =>
      database.query<QueuedStatement>(
        `select t.name, ${STATEMENT} from ${LIVE}._statements s join ${LIVE}._content_types t on t.type_id = s.type_id
         where s.tenant_id = $1 and s.state in ('pending', 'failed') and t.deleted_at is null order by t.name, s.revision, s.ordinal`,
        [tenant],
      ),
  };
}

/** A statement record as JSON; why it failed only where it did. */
export function presentStatement({ id, description, sql, down_sql, destructive, state, applied_at, created_at, actor, reason }: StatementRecord): Json {
  return { id, description, sql, down_sql, destructive, state, applied_at, created_at, actor, ...(reason === null ? {} : { reason }) };
}

export type ContentTypeQueries = ReturnType<typeof contentTypeQueries>;
