import type { JsonObject } from '../../../domain/json.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE, TIMESTAMP_FORMAT, readContentTypes } from './rows.ts';

const STATEMENT = `s.id, s.description, s.sql, s.down_sql, s.destructive, s.state, s.reason, s.actor,
  to_char(s.applied_at at time zone 'UTC', ${TIMESTAMP_FORMAT}) as applied_at,
    to_char(s.created_at at time zone 'UTC', ${TIMESTAMP_FORMAT}) as created_at`;

/** A schema statement as the history shows it. Times are RFC 3339, UTC. */
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
  /** Why the database refused the statement; null unless `state` is `failed`. */
  readonly reason: string | null;
};

/** A pending or failed statement, and the name of its content type. */
export type PendingStatementRecord = StatementRecord & { readonly name: string };

export type ContentTypeStats = { readonly rows: number; readonly last_updated: string | null };

/** Queries of definitions and statements, bound to a database. Each reads the data of one tenant. */
export function createContentTypeQueries({ database }: { readonly database: Database }) {
  return {
    /** The tenant's content types that are not deleted, sorted by name. */
    list: (tenant: string) => readContentTypes(database, LIVE, { tenant, live: true }),
    one: async (tenant: string, name: string) =>
      (await readContentTypes(database, LIVE, { tenant, name, live: true }))[0],
    /** The number of entries and the time of the last write. `name` must be a content type of the tenant. */
    async stats(tenant: string, name: string): Promise<ContentTypeStats> {
      const [row] = await database.query<ContentTypeStats>(
        `select count(*) as rows, to_char(max("_updated_at") at time zone 'UTC', ${TIMESTAMP_FORMAT}) as last_updated
         from ${LIVE}.${quoteIdentifier(name)} where tenant_id = $1 and "_deleted_at" is null`,
        [tenant],
      );
      return row ?? { rows: 0, last_updated: null };
    },
    /** The statements of a content type, newest first. */
    history: (tenant: string, typeId: string): Promise<readonly StatementRecord[]> =>
      database.query<StatementRecord>(
        `select ${STATEMENT} from ${LIVE}._statements s where tenant_id = $1 and type_id = $2
         order by revision desc, ordinal desc`,
        [tenant, typeId],
      ),
    /**
     * The pending and failed statements of the tenant's content types, by type name, oldest first. Deleted types are
     * left out.
     */
    pending: (tenant: string): Promise<readonly PendingStatementRecord[]> =>
      database.query<PendingStatementRecord>(
        `select t.name, ${STATEMENT} from ${LIVE}._statements s join ${LIVE}._content_types t on t.type_id = s.type_id
         where s.tenant_id = $1 and s.state in ('pending', 'failed') and t.deleted_at is null
         order by t.name, s.revision, s.ordinal`,
        [tenant],
      ),
  };
}

export type ContentTypeQueries = ReturnType<typeof createContentTypeQueries>;
