import { parseCommentEvent } from '../../../domain/content/comment-events.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { partsOf } from '../../../domain/stream.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../../engine/projection.ts';

/** Read model of comments on entries, schema `rm_comments`. */
export const commentsProjection: Projection = {
  name: 'comments',
  version: 1,
  categories: ['comment'],

  async create(tx, { schema }) {
    await tx.query(`
      create table ${schema}.comments (
        id uuid primary key, tenant_id text not null, entry_id uuid not null, parent uuid, body text not null,
        author json not null, created_at timestamptz(3) not null
      );
      create index on ${schema}.comments (tenant_id, entry_id, created_at, id);
      create index on ${schema}.comments (parent) where parent is not null`);
  },

  apply: projectComments,

  tables: () => Promise.resolve([{ table: 'comments' }]),
};

async function projectComments(tx: Transaction, { schema }: Target, events: readonly RecordedEvent[]): Promise<void> {
  const added = new Map<string, object>();
  const deleted = new Set<string>();
  for (const event of events) {
    const { tenant, id } = partsOf(event.stream, 'comment');
    const parsed = parseCommentEvent(event);
    if (parsed.type === 'CommentDeleted') deleted.add(id);
    else {
      const { entry_id, parent = null, body } = parsed.data;
      added.set(id, {
        id,
        tenant_id: tenant,
        entry_id,
        parent,
        body,
        author: { kind: parsed.actor.kind, id: parsed.actor.id },
        created_at: event.metadata.occurred_at,
      });
    }
  }
  if (added.size > 0)
    await tx.query(
      `insert into ${schema}.comments select * from json_populate_recordset(null::${schema}.comments, $1)`,
      [JSON.stringify([...added.values()])],
    );
  if (deleted.size > 0) await tx.query(`delete from ${schema}.comments where id = any($1::uuid[])`, [[...deleted]]);
  // A reply to a deleted comment has no parent. The reply may be written after the deletion, if the two raced.
  await tx.query(
    `update ${schema}.comments c set parent = null
     where c.parent is not null and (c.parent = any($1::uuid[]) or c.id = any($2::uuid[]))
       and not exists (select 1 from ${schema}.comments p where p.id = c.parent)`,
    [[...deleted], [...added.keys()]],
  );
}
