import { READS } from '../../content/entry-access.ts';
import { Blame, Diff, RevisionList, RevisionQuery, RevisionWithData } from '../../content/entry-schemas.ts';
import { RESTORE_REFUSALS, revisionHandlers } from '../../content/revision-handlers.ts';
import { type Route, route } from '../../http/route.ts';
import { type AdminContentRouteDependencies, requireEntryAccess } from './admin-access.ts';
import { adminEntryResponse } from './present-admin-entry.ts';
import { DiffParams, EntryParams, RevisionParams, WrittenAdminEntry } from './schemas.ts';

const SHARED = { api: 'admin', tag: 'content', feature: 'content', access: { kind: 'session' } } as const;
const READING = { ...SHARED, method: 'GET', reads: READS, grants: ['content:read'] } as const;
const READ_REFUSALS = ['entry_not_found', 'permission_denied'] as const;
const REVISION_REFUSALS = ['entry_not_found', 'revision_not_found', 'permission_denied', 'payment_required'] as const;

/** Routes of an entry's history in the console. They respond as those of the Content API do. */
export function adminRevisionRoutes(dependencies: AdminContentRouteDependencies): readonly Route[] {
  const revisions = revisionHandlers(dependencies);
  return [
    route({
      ...READING,
      path: '/api/admin/content/{id}/revisions',
      operation: 'listAdminRevisions',
      summary: 'List the revisions of an entry, newest first',
      params: EntryParams,
      query: RevisionQuery,
      responses: { 200: RevisionList },
      refusals: READ_REFUSALS,
      handler: async (request) => revisions.list(await requireEntryAccess(request, 'read', dependencies), request),
    }),
    route({
      ...READING,
      path: '/api/admin/content/{id}/revisions/{rev_id}',
      operation: 'getAdminRevision',
      summary: 'Get one revision, by its id or version, with the field values at that revision',
      params: RevisionParams,
      responses: { 200: RevisionWithData },
      refusals: REVISION_REFUSALS,
      handler: async (request) => revisions.get(await requireEntryAccess(request, 'read', dependencies), request),
    }),
    route({
      ...READING,
      path: '/api/admin/content/{id}/revisions/{a}/diff/{b}',
      operation: 'diffAdminRevisions',
      summary: 'Compare two revisions of an entry',
      params: DiffParams,
      responses: { 200: Diff },
      refusals: REVISION_REFUSALS,
      handler: async (request) => revisions.diff(await requireEntryAccess(request, 'read', dependencies), request),
    }),
    route({
      ...READING,
      path: '/api/admin/content/{id}/blame',
      operation: 'blameAdminEntry',
      summary: 'For each field, who wrote the current value, when and with which credential',
      params: EntryParams,
      responses: { 200: Blame },
      refusals: READ_REFUSALS,
      handler: async (request) => revisions.blame(await requireEntryAccess(request, 'read', dependencies)),
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/admin/content/{id}/revisions/{rev_id}/restore',
      operation: 'restoreAdminRevision',
      summary: 'Restore the field values of a revision as a new revision',
      grants: ['content:write'],
      params: RevisionParams,
      responses: { 200: WrittenAdminEntry },
      refusals: RESTORE_REFUSALS,
      handler: async (request) => {
        const entry = await requireEntryAccess(request, 'update', dependencies);
        return adminEntryResponse(200, entry.access, await revisions.restore(entry, request));
      },
    }),
  ];
}
