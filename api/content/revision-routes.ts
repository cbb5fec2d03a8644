import { diffRevisions, readRevision, readRevisions } from '../../application/content/read-revisions.ts';
import type { Revision } from '../../application/content/read-revisions.ts';
import { restoreEntry } from '../../application/content/restore-entry.ts';
import { revisionWindow } from '../../application/content/revision-window.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { expectedVersions } from './entity-tag.ts';
import { READS, requireAccess, requireEntryId } from './entry-access.ts';
import type { EntryRouteDependencies } from './entry-access.ts';
import { DiffParams, DiffSchema, EntryParams, EntrySchema, RevisionDataSchema, RevisionListSchema, RevisionParametersSchema, RevisionParams } from './entry-schemas.ts';
import { parsePaging, wantsCount } from './parse-list-query.ts';
import { presentActor } from './present-entry.ts';
import { entryAnswer } from './write-routes.ts';

const DECLARED = { api: 'content', tag: 'content', feature: 'content', access: { kind: 'credential' }, reads: READS } as const;

export type RevisionRouteDependencies = EntryRouteDependencies & { readonly entitlements: Entitlements };

/** The past of an entry, straight from its stream (spec 4 A, revisions). */
export function revisionRoutes(dependencies: RevisionRouteDependencies): readonly Route[] {
  const { entitlements } = dependencies;
  return [
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}/revisions',
      operation: 'listRevisions',
      summary: 'Revisions of an entry, newest first',
      params: EntryParams,
      query: RevisionParametersSchema,
      answers: { 200: RevisionListSchema },
      refusals: ['schema_not_found', 'entry_not_found'],
      handler: async (request) => {
        const { type, hidden } = await requireAccess(request, 'read', dependencies);
        const id = requireEntryId(request.params.id);
        const counted = wantsCount(request.query);
        const { revisions, total } = await readRevisions({ type, id, hidden, window: revisionWindow(entitlements, request.context), ...parsePaging(request.query) }, dependencies);
        return { status: 200, body: revisions.map(presentRevision), ...(counted ? { headers: { 'X-Total-Count': String(total) } } : {}) };
      },
    }),
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}/revisions/{rev_id}',
      operation: 'getRevision',
      summary: 'One revision with the values of that moment; named by its id or version',
      params: RevisionParams,
      answers: { 200: RevisionDataSchema },
      refusals: ['schema_not_found', 'entry_not_found', 'revision_not_found', 'payment_required'],
      handler: async (request) => {
        const { type, hidden } = await requireAccess(request, 'read', dependencies);
        const { id, rev_id: revision } = request.params;
        const found = await readRevision({ type, id: requireEntryId(id), hidden, window: revisionWindow(entitlements, request.context), revision }, dependencies);
        return { status: 200, body: { ...presentRevision(found), data: found.data } };
      },
    }),
    route({
      ...DECLARED,
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}/revisions/{a}/diff/{b}',
      operation: 'diffRevisions',
      summary: 'What differs between two revisions',
      params: DiffParams,
      answers: { 200: DiffSchema },
      refusals: ['schema_not_found', 'entry_not_found', 'revision_not_found', 'payment_required'],
      handler: async (request) => {
        const { type, hidden } = await requireAccess(request, 'read', dependencies);
        const { id, a, b } = request.params;
        const changes = await diffRevisions({ type, id: requireEntryId(id), hidden, window: revisionWindow(entitlements, request.context), from: a, to: b }, dependencies);
        return { status: 200, body: { changes } };
      },
    }),
    route({
      api: 'content',
      tag: 'content', feature: 'content',
      access: { kind: 'credential' },
      method: 'PUT',
      path: '/api/v1/content/{schema}/{id}/revisions/{rev_id}/restore',
      operation: 'restoreRevision',
      summary: 'Restore a revision as a new one',
      params: RevisionParams,
      answers: { 200: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: ['insufficient_permissions', 'schema_not_found', 'permission_denied', 'entry_not_found', 'revision_not_found', 'payment_required', 'entry_changed', 'validation_failed', 'unique_value_held'],
      handler: async (request) => {
        const access = await requireAccess(request, 'update', dependencies);
        const id = requireEntryId(request.params.id);
        const versions = expectedVersions(request.header('if-match'));
        const restore = { type: access.type, id, revision: request.params.rev_id, versions, except: access.locked, window: revisionWindow(entitlements, request.context) };
        return entryAnswer(200, access, await restoreEntry(restore, request.context, dependencies));
      },
    }),
  ];
}

/** One revision of the answer; also for the admin content. */
export function presentRevision({ id, version, action, actor, created_at, changed }: Revision): JsonObject {
  return { id, version, action, actor: presentActor(actor), created_at, changed };
}
