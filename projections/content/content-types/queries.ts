import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE, readContentTypes } from './rows.ts';

const MOMENT = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

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
};

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
        `select id, description, sql, down_sql, destructive, state, actor,
           to_char(applied_at at time zone 'UTC', ${MOMENT}) as applied_at, to_char(created_at at time zone 'UTC', ${MOMENT}) as created_at
         from ${LIVE}._statements where tenant_id = $1 and type_id = $2 order by revision desc, ordinal desc`,
        [tenant, typeId],
      ),
  };
}

/** A statement record as JSON. */
export function presentStatement(record: StatementRecord): Json {
  return { ...record };
}

export type ContentTypeQueries = ReturnType<typeof contentTypeQueries>;
