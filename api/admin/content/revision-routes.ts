import { blameEntry } from '../../../application/content/blame-entry.ts';
import { diffRevisions, readRevision, readRevisions } from '../../../application/content/read-revisions.ts';
import { restoreEntry } from '../../../application/content/restore-entry.ts';
import { revisionWindow } from '../../../application/content/revision-window.ts';
import { BlameSchema, presentBlame } from '../../content/blame-routes.ts';
import { expectedVersions } from '../../content/entity-tag.ts';
import { READS } from '../../content/entry-access.ts';
import { DiffSchema, RevisionDataSchema, RevisionListSchema, RevisionParametersSchema } from '../../content/entry-schemas.ts';
import { parsePaging, wantsCount } from '../../content/parse-list-query.ts';
import { presentRevision } from '../../content/revision-routes.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { requireEntryAccess } from './admin-access.ts';
import type { AdminContentDependencies } from './admin-access.ts';
import { adminEntryAnswer } from './present-admin-entry.ts';
import { AdminEntrySchema, DiffParams, IdParams, RevisionParams } from './schemas.ts';

const DECLARED = { api: 'admin', tag: 'content', feature: 'content', access: { kind: 'session' }, method: 'GET', reads: READS } as const;

/** The past of an entry for the console: as the Content API serves it (spec 4 A, admin content). */
export function adminRevisionRoutes(dependencies: AdminContentDependencies): readonly Route[] {
  const { entitlements } = dependencies;
  return [
    route({
      ...DECLARED,
      path: '/api/admin/content/{id}/revisions',
      operation: 'listAdminRevisions',
      grants: ['content:read'],
      summary: 'Revisions of an entry, newest first',
      params: IdParams,
      query: RevisionParametersSchema,
      answers: { 200: RevisionListSchema },
      refusals: ['entry_not_found', 'permission_denied'],
      handler: async (request) => {
        const { id, access: { type, hidden } } = await requireEntryAccess(request, 'read', dependencies);
        const counted = wantsCount(request.query);
        const { revisions, total } = await readRevisions({ type, id, hidden, window: revisionWindow(entitlements, request.context), ...parsePaging(request.query) }, dependencies);
        return { status: 200, body: revisions.map(presentRevision), ...(counted ? { headers: { 'X-Total-Count': String(total) } } : {}) };
      },
    }),
    route({
      ...DECLARED,
      path: '/api/admin/content/{id}/revisions/{rev_id}',
      operation: 'getAdminRevision',
      grants: ['content:read'],
      summary: 'One revision with the values of that moment; named by its id or version',
      params: RevisionParams,
      answers: { 200: RevisionDataSchema },
      refusals: ['entry_not_found', 'revision_not_found', 'permission_denied', 'payment_required'],
      handler: async (request) => {
        const { id, access: { type, hidden } } = await requireEntryAccess(request, 'read', dependencies);
        const found = await readRevision({ type, id, hidden, window: revisionWindow(entitlements, request.context), revision: request.params.rev_id }, dependencies);
        return { status: 200, body: { ...presentRevision(found), data: found.data } };
      },
    }),
    route({
      ...DECLARED,
      path: '/api/admin/content/{id}/revisions/{a}/diff/{b}',
      operation: 'diffAdminRevisions',
      grants: ['content:read'],
      summary: 'What differs between two revisions',
      params: DiffParams,
      answers: { 200: DiffSchema },
      refusals: ['entry_not_found', 'revision_not_found', 'permission_denied', 'payment_required'],
      handler: async (request) => {
        const { id, access: { type, hidden } } = await requireEntryAccess(request, 'read', dependencies);
        const { a: from, b: to } = request.params;
        return { status: 200, body: { changes: await diffRevisions({ type, id, hidden, window: revisionWindow(entitlements, request.context), from, to }, dependencies) } };
      },
    }),
    route({
      ...DECLARED,
      path: '/api/admin/content/{id}/blame',
      operation: 'blameAdminEntry',
      grants: ['content:read'],
      summary: 'For each field who wrote the value it has today, when and through which credential',
      params: IdParams,
      answers: { 200: BlameSchema },
      refusals: ['entry_not_found', 'permission_denied'],
      handler: async (request) => {
        const { id, access: { type, hidden } } = await requireEntryAccess(request, 'read', dependencies);
        return { status: 200, body: { data: (await blameEntry({ type, id, hidden }, dependencies)).map(presentBlame) } };
      },
    }),
    route({
      api: 'admin',
      tag: 'content',
      feature: 'content',
      access: { kind: 'session' },
      method: 'PUT',
      path: '/api/admin/content/{id}/revisions/{rev_id}/restore',
      operation: 'restoreAdminRevision',
      grants: ['content:write'],
      summary: 'Restore a revision as a new one',
      params: RevisionParams,
      answers: { 200: AdminEntrySchema },
      refusals: ['insufficient_permissions', 'permission_denied', 'entry_not_found', 'revision_not_found', 'payment_required', 'entry_changed', 'validation_failed', 'unique_value_held'],
      handler: async (request) => {
        const { id, access } = await requireEntryAccess(request, 'update', dependencies);
        const versions = expectedVersions(request.header('if-match'));
        const restore = { type: access.type, id, revision: request.params.rev_id, versions, except: access.locked, window: revisionWindow(entitlements, request.context) };
        return adminEntryAnswer(200, access, await restoreEntry(restore, request.context, dependencies));
      },
    }),
  ];
}
