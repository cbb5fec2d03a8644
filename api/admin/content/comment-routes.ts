import { Type } from '@sinclair/typebox';
import { addComment } from '../../../application/content/add-comment.ts';
import { deleteComment } from '../../../application/content/delete-comment.ts';
import type { Comment } from '../../../application/ports/comments.ts';
import { uuidPattern } from '../../../domain/content/patterns.ts';
import { refusal } from '../../../domain/errors.ts';
import { holdsRole } from '../../../domain/identity/principal.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { parsePaging } from '../../content/parse-list-query.ts';
import { presentActor } from '../../content/present-entry.ts';
import type { Answer, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { requireEntryAccess, requirePrincipal } from './admin-access.ts';
import type { AdminContentDependencies } from './admin-access.ts';
import { IdParams } from './schemas.ts';

const DECLARED = { api: 'admin', tag: 'content', access: { kind: 'session' }, feature: 'content', capability: 'content-pro' } as const;
const READS = ['content', 'comments'];
const ADMINS = ['admin', 'super_admin'];

const CommentSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    entry_id: Type.String({ format: 'uuid' }),
    parent: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
    body: Type.String(),
    author: Type.Object({ kind: Type.String(), id: Type.String() }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Comment' },
);
const CommentPage = Type.Object({ data: Type.Array(CommentSchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() });
const CommentBody = Type.Object({ body: Type.String(), parent: Type.Optional(Type.Union([Type.String(), Type.Null()])) }, { additionalProperties: false });
const Text = Type.Optional(Type.String());

/** Comments on entries (spec 4 A): for everyone who may read the entry; gone and back with it. */
export function commentRoutes(dependencies: AdminContentDependencies): readonly Route[] {
  async function requireEntry(request: Parameters<typeof requireEntryAccess>[0]): Promise<string> {
    const { id, access } = await requireEntryAccess(request, 'read', dependencies);
    if (!(await dependencies.rows.existing(access.type, [id])).has(id)) throw refusal('entry_not_found');
    return id;
  }

  return [
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/admin/content/{id}/comments',
      operation: 'listComments',
      grants: ['content:read'],
      summary: 'Comments on an entry, the newest last',
      reads: READS,
      params: IdParams,
      query: Type.Object({ limit: Text, offset: Text }, { additionalProperties: false }),
      answers: { 200: CommentPage },
      refusals: ['payment_required', 'entry_not_found', 'permission_denied'],
      handler: async (request) => {
        const entryId = await requireEntry(request);
        const paging = parsePaging(request.query);
        const { comments, total } = await dependencies.comments.list({ tenant: request.tenant, entryId, ...paging });
        return { status: 200, body: { data: comments.map(presentComment), total, ...paging } };
      },
    }),
    route({
      ...DECLARED,
      method: 'POST',
      path: '/api/admin/content/{id}/comments',
      operation: 'addComment',
      grants: ['content:write'],
      summary: 'Comment on an entry, or answer a comment on it',
      params: IdParams,
      body: CommentBody,
      precheck: async (request) => {
        await requireEntry(request);
      },
      answers: { 201: CommentSchema },
      refusals: ['payment_required', 'entry_not_found', 'permission_denied', 'validation_failed'],
      idempotent: true,
      handler: async (request) => {
        const entryId = await requireEntry(request);
        const { body, parent } = request.body;
        const { comment, position } = await addComment({ entryId, body, parent: parent ?? undefined }, request.context, dependencies);
        return { status: 201, body: presentComment(comment), ...commitOf(position) };
      },
    }),
    route({
      ...DECLARED,
      method: 'DELETE',
      path: '/api/admin/content/{id}/comments/{comment_id}',
      operation: 'deleteComment',
      grants: ['content:write'],
      summary: 'Delete a comment: one of your own, or any as an admin; answers to it stay',
      params: Type.Object({ id: Type.String(), comment_id: Type.String() }),
      answers: { 204: null },
      refusals: ['payment_required', 'entry_not_found', 'comment_not_found', 'permission_denied'],
      handler: async (request) => {
        const entryId = await requireEntry(request);
        const id = request.params.comment_id.toLowerCase();
        if (!uuidPattern.test(id)) throw refusal('comment_not_found');
        const administers = holdsRole(requirePrincipal(request), ADMINS);
        return { status: 204, ...commitOf(await deleteComment({ id, entryId, administers }, request.context, dependencies)) };
      },
    }),
  ];
}

function presentComment({ id, entryId, parent, body, author, createdAt }: Comment): JsonObject {
  return { id, entry_id: entryId, parent: parent ?? null, body, author: presentActor(author), created_at: createdAt };
}

function commitOf(position: NonNullable<Answer['commit']>['position'] | undefined): Pick<Answer, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels: ['comments'] } };
}
