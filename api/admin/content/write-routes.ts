import { refuseLockedFields } from '../../../application/content/content-access.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import { moveEntry } from '../../../application/content/move-entry.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import { createAdminEntry, updateAdminEntry } from '../../../application/content/write-admin-entry.ts';
import type { AccessAction } from '../../../application/ports/access-rules.ts';
import { ENTRY_MOVES } from '../../../domain/content/entry.ts';
import type { EntryMove } from '../../../domain/content/entry.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { expectedVersions } from '../../content/entity-tag.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { requireEntryAccess, requireSchemaAccess } from './admin-access.ts';
import type { AdminContentDependencies } from './admin-access.ts';
import { adminEntryAnswer } from './present-admin-entry.ts';
import { AdminEntryBody, AdminEntrySchema, IdParams, NewAdminEntryBody } from './schemas.ts';

const DECLARED = { api: 'admin', tag: 'content', feature: 'content', access: { kind: 'session' } } as const;
const REFUSALS = ['insufficient_permissions', 'permission_denied'] as const;
const ENTRY_REFUSALS = [...REFUSALS, 'entry_not_found', 'entry_changed'] as const;

const MOVES: Readonly<Record<EntryMove, string>> = {
  publish: 'Publish a draft',
  unpublish: 'Take a published entry back to draft',
  archive: 'Archive a draft or a published entry',
  unarchive: 'Take an archived entry back to draft',
};

/** Writes of the admin content (spec 4 A). */
export function adminWriteRoutes(dependencies: AdminContentDependencies): readonly Route[] {
  /** Access is refused before the body is looked at. */
  const precheck = (action: AccessAction) => async (request: Parameters<typeof requireEntryAccess>[0]): Promise<void> => {
    await requireEntryAccess(request, action, dependencies);
  };

  const move = (verb: EntryMove): Route =>
    route({
      ...DECLARED,
      method: 'PUT',
      path: `/api/admin/content/{id}/${verb}`,
      operation: `${verb}AdminEntry`,
      grants: ['content:write'],
      summary: MOVES[verb],
      params: IdParams,
      answers: { 200: AdminEntrySchema },
      refusals: [...ENTRY_REFUSALS, 'invalid_status_transition'],
      handler: async (request) => {
        const { access, id } = await requireEntryAccess(request, 'publish', dependencies);
        const versions = expectedVersions(request.header('if-match'));
        return adminEntryAnswer(200, access, await moveEntry({ type: access.type, id, move: verb, versions }, request.context, dependencies));
      },
    });

  return [
    route({
      ...DECLARED,
      method: 'POST',
      path: '/api/admin/content',
      operation: 'createAdminEntry',
      grants: ['content:write'],
      summary: 'Create an entry, as a draft or published; without a slug one is made from the title',
      body: NewAdminEntryBody,
      answers: { 201: AdminEntrySchema },
      refusals: [...REFUSALS, 'schema_not_found', 'validation_failed', 'unique_value_held'],
      idempotent: true,
      handler: async (request) => {
        const { schema_name: schema, data: given, slug, status } = request.body;
        const access = await requireSchemaAccess(request, schema, 'create', dependencies);
        if (status === 'published' && access.type.definition.with_draft_publish === true) await requireSchemaAccess(request, schema, 'publish', dependencies);
        const data = toData(given);
        refuseLockedFields(access, data);
        return adminEntryAnswer(201, access, await createAdminEntry({ type: access.type, data, slug: givenSlug(slug), status }, request.context, dependencies));
      },
    }),
    route({
      ...DECLARED,
      method: 'PUT',
      path: '/api/admin/content/{id}',
      operation: 'updateAdminEntry',
      grants: ['content:write'],
      summary: 'Update the fields the body carries, and the slug',
      params: IdParams,
      body: AdminEntryBody,
      precheck: precheck('update'),
      answers: { 200: AdminEntrySchema },
      refusals: [...ENTRY_REFUSALS, 'validation_failed', 'unique_value_held'],
      handler: async (request) => {
        const { access, id } = await requireEntryAccess(request, 'update', dependencies);
        const data = toData(request.body.data ?? {});
        refuseLockedFields(access, data);
        const update = { type: access.type, id, data, slug: givenSlug(request.body.slug), versions: expectedVersions(request.header('if-match')) };
        return adminEntryAnswer(200, access, await updateAdminEntry(update, request.context, dependencies));
      },
    }),
    route({
      ...DECLARED,
      method: 'DELETE',
      path: '/api/admin/content/{id}',
      operation: 'deleteAdminEntry',
      grants: ['content:write'],
      summary: 'Delete an entry; its history stays',
      params: IdParams,
      answers: { 204: null },
      refusals: [...ENTRY_REFUSALS, 'entry_referenced'],
      handler: async (request) => {
        const { access, id } = await requireEntryAccess(request, 'delete', dependencies);
        const { position } = await deleteEntry({ type: access.type, id, versions: expectedVersions(request.header('if-match')) }, request.context, dependencies);
        return position === undefined ? { status: 204 } : { status: 204, commit: { position, readModels: ['content'] } };
      },
    }),
    ...ENTRY_MOVES.map(move),
    route({
      ...DECLARED,
      method: 'PUT',
      path: '/api/admin/content/{id}/undelete',
      operation: 'undeleteAdminEntry',
      grants: ['content:write'],
      summary: 'Bring back an entry that soft delete has kept',
      params: IdParams,
      answers: { 200: AdminEntrySchema },
      refusals: [...ENTRY_REFUSALS, 'invalid_status_transition', 'unique_value_held', 'validation_failed'],
      handler: async (request) => {
        const { access, id } = await requireEntryAccess(request, 'delete', dependencies);
        const versions = expectedVersions(request.header('if-match'));
        return adminEntryAnswer(200, access, await undeleteEntry({ type: access.type, id, versions }, request.context, dependencies));
      },
    }),
  ];
}

/** Null and empty text ask for a made slug, as a form that leaves the field empty does. */
function givenSlug(slug: string | null | undefined): string | undefined {
  return slug === null || slug?.trim() === '' ? undefined : slug;
}

/** What JSON.parse made of an object is one; the schema has checked that it is an object. */
function toData(data: object): JsonObject {
  return data as JsonObject;
}
