import { changeAdminEntry } from '../../../application/content/change-admin-entry.ts';
import { refuseLockedFields, refuseLockedSlug } from '../../../application/content/content-access.ts';
import { createAdminEntry } from '../../../application/content/create-admin-entry.ts';
import { onEntry } from '../../content/entry-access.ts';
import { entryChangeRoutes } from '../../content/entry-change-routes.ts';
import { toData } from '../../content/write-routes.ts';
import { type Route, route } from '../../http/route.ts';
import { type AdminContentRouteDependencies, requireEntryAccess, requireSchemaAccess } from './admin-access.ts';
import { adminEntryResponse } from './present-admin-entry.ts';
import { AdminEntryBody, EntryParams, NewAdminEntryBody, WrittenAdminEntry } from './schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'content',
  access: { kind: 'session' },
  grants: ['content:write'],
} as const;
const REFUSALS = ['insufficient_permissions', 'permission_denied'] as const;
const ENTRY_REFUSALS = [...REFUSALS, 'entry_not_found', 'entry_changed'] as const;

/** Routes of the console that write entries. */
export function adminWriteRoutes(dependencies: AdminContentRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/content',
      operation: 'createAdminEntry',
      summary: 'Create an entry, as a draft or published; without a slug, one is made from the title',
      body: NewAdminEntryBody,
      responses: { 201: WrittenAdminEntry },
      refusals: [...REFUSALS, 'schema_not_found', 'validation_failed', 'unique_value_held'],
      idempotent: true,
      handler: async (request) => {
        const { schema_name: schema, slug, status } = request.body;
        const access = await requireSchemaAccess({ caller: request, schema, action: 'create' }, dependencies);
        if (status === 'published' && access.type.definition.with_draft_publish === true)
          await requireSchemaAccess({ caller: request, schema, action: 'publish' }, dependencies);
        const data = toData(request.body.data);
        refuseLockedFields(access, data);
        refuseLockedSlug(access, givenSlug(slug));
        const entry = { type: access.type, data, slug: givenSlug(slug), status };
        return adminEntryResponse(201, access, await createAdminEntry(entry, request.context, dependencies));
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/admin/content/{id}',
      operation: 'updateAdminEntry',
      summary: 'Update the fields and the slug that the body contains',
      params: EntryParams,
      body: AdminEntryBody,
      responses: { 200: WrittenAdminEntry },
      refusals: [...ENTRY_REFUSALS, 'validation_failed', 'unique_value_held'],
      precheck: (request) => requireEntryAccess(request, 'update', dependencies),
      handler: async (request) => {
        const { checked: entry, body, context } = request;
        const data = toData(body.data ?? {});
        refuseLockedFields(entry.access, data);
        refuseLockedSlug(entry.access, givenSlug(body.slug));
        const update = { ...onEntry(entry, request), data, slug: givenSlug(body.slug) };
        return adminEntryResponse(200, entry.access, await changeAdminEntry(update, context, dependencies));
      },
    }),
    ...entryChangeRoutes(
      {
        shared: { ...SHARED, path: '/api/admin/content/{id}', params: EntryParams },
        noun: 'AdminEntry',
        returns: { responses: { 200: WrittenAdminEntry } },
        refusals: ENTRY_REFUSALS,
        requireEntry: (request, action) => requireEntryAccess(request, action, dependencies),
        respond: adminEntryResponse,
      },
      dependencies,
    ),
  ];
}

/** Undefined for null and blank text, as a form with an empty field sends: the slug is then made from the title. */
function givenSlug(slug: string | null | undefined): string | undefined {
  return slug === null || slug?.trim() === '' ? undefined : slug;
}
