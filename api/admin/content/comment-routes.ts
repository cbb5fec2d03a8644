import { Type } from '@sinclair/typebox';
import { addComment } from '../../../application/content/add-comment.ts';
import { deleteComment } from '../../../application/content/delete-comment.ts';
import type { Comment as StoredComment } from '../../../application/ports/comments.ts';
import { refusal } from '../../../domain/errors.ts';
import { hasAdminRole } from '../../../domain/identity/roles.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { UUID_PATTERN } from '../../../domain/uuid.ts';
import { parsePaging } from '../../content/parse-list-query.ts';
import { presentActor } from '../../content/present-entry.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { Actor, Id, NullableText, Timestamp, nullable, strict } from '../../http/schemas.ts';
import { type AdminContentRouteDependencies, requireEntryAccess, requirePrincipal } from './admin-access.ts';
import { EntryParams } from './schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  access: { kind: 'session' },
  feature: 'content',
  capability: 'content-pro',
} as const;
const READS = ['content', 'comments'];

const Comment = Type.Object(
  {
    id: Id,
    entry_id: Id,
    parent: nullable(Id),
    body: Type.String(),
    author: Actor,
    created_at: Timestamp,
  },
  { title: 'Comment' },
);
const CommentPage = Type.Object({
  data: Type.Array(Comment),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
});
const CommentBody = Type.Object({ body: Type.String(), parent: Type.Optional(NullableText) }, strict);
const Text = Type.Optional(Type.String());

/**
 * Routes of comments. A caller who may read an entry may comment on it. The comments of a deleted entry are not shown.
 */
export function commentRoutes(dependencies: AdminContentRouteDependencies): readonly Route[] {
  /** The id of the entry in the path. @throws as `requireEntryAccess`, and `entry_not_found` for a deleted entry */
  async function requireLiveEntry(request: Parameters<typeof requireEntryAccess>[0]): Promise<string> {
    const { id, access } = await requireEntryAccess(request, 'read', dependencies);
    if (!(await dependencies.reads.existing(access.type, [id])).has(id)) throw refusal('entry_not_found');
    return id;
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/content/{id}/comments',
      operation: 'listComments',
      summary: 'List the comments on an entry, oldest first',
      grants: ['content:read'],
      params: EntryParams,
      query: Type.Object({ limit: Text, offset: Text }, strict),
      responses: { 200: CommentPage },
      refusals: ['payment_required', 'entry_not_found', 'permission_denied'],
      reads: READS,
      handler: async (request) => {
        const entryId = await requireLiveEntry(request);
        const paging = parsePaging(request.query);
        const { comments, total } = await dependencies.comments.list({ tenant: request.tenant, entryId, ...paging });
        return { status: 200, body: { data: comments.map(presentComment), total, ...paging } };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/content/{id}/comments',
      operation: 'addComment',
      summary: 'Add a comment to an entry, or reply to a comment',
      grants: ['content:write'],
      params: EntryParams,
      body: CommentBody,
      responses: { 201: Comment },
      refusals: ['payment_required', 'entry_not_found', 'permission_denied', 'validation_failed'],
      idempotent: true,
      precheck: requireLiveEntry,
      handler: async (request) => {
        const entryId = request.checked;
        const { body, parent } = request.body;
        const { comment, position } = await addComment(
          { entryId, body, parent: parent ?? undefined },
          request.context,
          dependencies,
        );
        return { status: 201, body: presentComment(comment), ...commitAt(position, ['comments']) };
      },
    }),
    route({
      ...SHARED,
      method: 'DELETE',
      path: '/api/admin/content/{id}/comments/{comment_id}',
      operation: 'deleteComment',
      summary: 'Delete a comment of your own, or any comment as an admin; replies to it are kept',
      grants: ['content:write'],
      params: Type.Object({ id: Type.String(), comment_id: Type.String() }),
      responses: { 204: null },
      refusals: ['payment_required', 'entry_not_found', 'comment_not_found', 'permission_denied'],
      handler: async (request) => {
        const entryId = await requireLiveEntry(request);
        const id = request.params.comment_id.toLowerCase();
        if (!UUID_PATTERN.test(id)) throw refusal('comment_not_found');
        const administers = hasAdminRole(requirePrincipal(request).roles);
        return {
          status: 204,
          ...commitAt(await deleteComment({ id, entryId, administers }, request.context, dependencies), ['comments']),
        };
      },
    }),
  ];
}

function presentComment({ id, entryId, parent, body, author, createdAt }: StoredComment): JsonObject {
  return { id, entry_id: entryId, parent: parent ?? null, body, author: presentActor(author), created_at: createdAt };
}
