import type { Comments } from '../../../application/ports/comments.ts';
import type { Actor } from '../../../domain/event.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';

type Row = {
  readonly id: string;
  readonly entry_id: string;
  readonly parent: string | null;
  readonly body: string;
  readonly author: Actor;
  readonly created_at: Date;
};

/** Queries of the read model of comments, bound to a database (port `Comments`). */
export function createCommentQueries({ database }: { readonly database: Database }): Comments {
  return {
    async list({ tenant, entryId, limit, offset }) {
      const [rows, [count]] = await Promise.all([
        database.query<Row>(
          `select id, entry_id, parent, body, author, created_at from rm_comments.comments
           where tenant_id = $1 and entry_id = $2 order by created_at, id limit $3 offset $4`,
          [tenant, entryId, limit, offset],
        ),
        database.query<{ readonly total: number }>(
          'select count(*)::int8 as total from rm_comments.comments where tenant_id = $1 and entry_id = $2',
          [tenant, entryId],
        ),
      ]);
      const comments = rows.map((row) => ({
        id: row.id,
        entryId: row.entry_id,
        parent: row.parent ?? undefined,
        body: row.body,
        author: row.author,
        createdAt: row.created_at.toISOString(),
      }));
      return { comments, total: count?.total ?? 0 };
    },
    async exists({ tenant, entryId, id }) {
      const found = await database.query(
        'select 1 from rm_comments.comments where tenant_id = $1 and entry_id = $2 and id = $3',
        [tenant, entryId, id],
      );
      return found.length > 0;
    },
  };
}
