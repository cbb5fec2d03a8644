import { type Route, route } from '../http/route.ts';
import { type EntryRouteDependencies, READS, requireEntry } from './entry-access.ts';
import {
  Blame,
  Diff,
  DiffParams,
  EntryParams,
  RevisionList,
  RevisionParams,
  RevisionQuery,
  RevisionWithData,
  WrittenEntry,
} from './entry-schemas.ts';
import { RESTORE_REFUSALS, type RevisionHandlerDependencies, revisionHandlers } from './revision-handlers.ts';
import { entryResponse } from './write-routes.ts';

const SHARED = { api: 'content', tag: 'content', feature: 'content', access: { kind: 'credential' } } as const;
const READING = { ...SHARED, method: 'GET', reads: READS } as const;
const REVISION_REFUSALS = ['schema_not_found', 'entry_not_found', 'revision_not_found', 'payment_required'] as const;

export type RevisionRouteDependencies = EntryRouteDependencies & RevisionHandlerDependencies;

/** Routes of an entry's history: revisions, differences, blame and restore. They read the entry's stream. */
export function revisionRoutes(dependencies: RevisionRouteDependencies): readonly Route[] {
  const revisions = revisionHandlers(dependencies);
  return [
    route({
      ...READING,
      path: '/api/v1/content/{schema}/{id}/revisions',
      operation: 'listRevisions',
      summary: 'List the revisions of an entry, newest first',
      params: EntryParams,
      query: RevisionQuery,
      responses: { 200: RevisionList },
      refusals: ['schema_not_found', 'entry_not_found'],
      handler: async (request) => revisions.list(await requireEntry(request, 'read', dependencies), request),
    }),
    route({
      ...READING,
      path: '/api/v1/content/{schema}/{id}/revisions/{rev_id}',
      operation: 'getRevision',
      summary: 'Get one revision, by its id or version, with the field values at that revision',
      params: RevisionParams,
      responses: { 200: RevisionWithData },
      refusals: REVISION_REFUSALS,
      handler: async (request) => revisions.get(await requireEntry(request, 'read', dependencies), request),
    }),
    route({
      ...READING,
      path: '/api/v1/content/{schema}/{id}/revisions/{a}/diff/{b}',
      operation: 'diffRevisions',
      summary: 'Compare two revisions of an entry',
      params: DiffParams,
      responses: { 200: Diff },
      refusals: REVISION_REFUSALS,
      handler: async (request) => revisions.diff(await requireEntry(request, 'read', dependencies), request),
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/v1/content/{schema}/{id}/revisions/{rev_id}/restore',
      operation: 'restoreRevision',
      summary: 'Restore the field values of a revision as a new revision',
      params: RevisionParams,
      responses: { 200: WrittenEntry },
      refusals: [...RESTORE_REFUSALS, 'schema_not_found'],
      responseHeaders: ['ETag'],
      handler: async (request) => {
        const entry = await requireEntry(request, 'update', dependencies);
        return entryResponse(200, entry.access, await revisions.restore(entry, request));
      },
    }),
    route({
      ...READING,
      path: '/api/v1/content/{schema}/{id}/blame',
      operation: 'blameEntry',
      summary: 'For each field, who wrote the current value, when and with which credential',
      params: EntryParams,
      responses: { 200: Blame },
      refusals: ['schema_not_found', 'schema_write_only', 'entry_not_found'],
      handler: async (request) => revisions.blame(await requireEntry(request, 'read', dependencies)),
    }),
  ];
}
