import { changeEntry } from '../../application/content/change-entry.ts';
import { type ContentAccess, refuseLockedFields } from '../../application/content/content-access.ts';
import { createEntries } from '../../application/content/create-entries.ts';
import { createEntry } from '../../application/content/create-entry.ts';
import type { EntryOutcome } from '../../application/content/run-entry-command.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { refusal } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { commitAt } from '../http/commit.ts';
import { entityTag } from '../http/entity-tags.ts';
import { type Route, type RouteResponse, route } from '../http/route.ts';
import {
  type EntryRouteDependencies,
  READS,
  onEntry,
  requireAccess,
  requireEntry,
  requireEntryId,
} from './entry-access.ts';
import { entryChangeRoutes } from './entry-change-routes.ts';
import { BulkBody, CreatedEntries, EntryBody, EntryParams, SchemaParams, WrittenEntry } from './entry-schemas.ts';
import { presentEntry, presentReceipt } from './present-entry.ts';

const SHARED = { api: 'content', tag: 'content', feature: 'content', access: { kind: 'credential' } } as const;
const REFUSALS = ['insufficient_permissions', 'schema_not_found', 'schema_read_only', 'permission_denied'] as const;
const ENTRY_REFUSALS = [...REFUSALS, 'entry_not_found', 'entry_changed'] as const;

const ENTRY_RESPONSE = { responses: { 200: WrittenEntry }, responseHeaders: ['ETag'] } as const;

const MAX_BULK = 1000;

/** Routes of the Content API that write entries. */
export function writeRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/v1/content/{schema}',
      operation: 'createEntry',
      summary: 'Create an entry',
      params: SchemaParams,
      body: EntryBody,
      responses: { 201: WrittenEntry },
      refusals: [...REFUSALS, 'validation_failed', 'unique_value_held'],
      responseHeaders: ['ETag'],
      idempotent: true,
      precheck: (request) => requireAccess(request, 'create', dependencies),
      handler: async ({ body, checked: access, context }) => {
        const data = toData(body.data);
        refuseLockedFields(access, data);
        return entryResponse(201, access, await createEntry({ type: access.type, data }, context, dependencies));
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/v1/content/{schema}/bulk',
      operation: 'createEntries',
      summary: 'Create 1 to 1000 entries, either all of them or none',
      params: SchemaParams,
      body: BulkBody,
      bodyRefusal: (problems) =>
        refusal('validation_failed', {
          body: { errors: problems.map(({ field, message }) => bulkProblem(field, message)) },
          fields: problems,
        }),
      responses: { 201: CreatedEntries },
      refusals: [...REFUSALS, 'validation_failed', 'unique_value_held'],
      idempotent: true,
      precheck: (request) => requireAccess(request, 'create', dependencies),
      handler: async ({ body, checked: access, context }) => {
        const items = body.entries.map(({ data }) => toData(data));
        if (items.length === 0 || items.length > MAX_BULK)
          throw refusal('validation_failed', { message: `entries must hold 1 to ${MAX_BULK} items` });
        for (const data of items) refuseLockedFields(access, data);
        const { entries, position } = await createEntries({ type: access.type, items }, context, dependencies);
        const data = entries.map((entry) => presentWritten(access, entry));
        return { status: 201, body: { created: entries.length, data }, ...commitAt(position, READS) };
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      path: '/api/v1/content/{schema}/{id}',
      operation: 'updateEntry',
      summary: 'Update the fields that the body contains',
      params: EntryParams,
      body: EntryBody,
      precheck: (request) => requireAccess(request, 'update', dependencies),
      ...ENTRY_RESPONSE,
      refusals: [...ENTRY_REFUSALS, 'validation_failed', 'unique_value_held'],
      handler: async ({ params, body, header, checked: access, context }) => {
        const entry = { id: requireEntryId(params.id), access };
        const data = toData(body.data);
        refuseLockedFields(access, data);
        const outcome = await changeEntry({ ...onEntry(entry, { header }), data }, context, dependencies);
        return entryResponse(200, access, outcome);
      },
    }),
    ...entryChangeRoutes(
      {
        shared: { ...SHARED, path: '/api/v1/content/{schema}/{id}', params: EntryParams },
        noun: 'Entry',
        returns: ENTRY_RESPONSE,
        refusals: ENTRY_REFUSALS,
        requireEntry: (request, action) => requireEntry(request, action, dependencies),
        respond: entryResponse,
      },
      dependencies,
    ),
  ];
}

/** The response with an entry, from the state that its command returned, without reading it again. */
export function entryResponse(status: number, access: ContentAccess, { entry, position }: EntryOutcome): RouteResponse {
  return {
    status,
    body: presentWritten(access, entry),
    headers: { ETag: entityTag(entry.version) },
    ...commitAt(position, READS),
  };
}

function presentWritten({ type, hidden, readable }: ContentAccess, entry: EntryState): JsonObject {
  return readable ? presentEntry({ type, entry, hidden }) : presentReceipt(type, entry);
}

/** Types `data` of a body as JSON: JSON.parse made it, and the body's schema has checked that it is an object. */
export function toData(data: object): JsonObject {
  return data as JsonObject;
}

/** Splits a path such as `entries.3.data.title` into the index of the entry and the path inside it. */
function bulkProblem(field: string, message: string): JsonObject {
  const match = /^entries\.(\d+)\.?(.*)$/.exec(field);
  return { index: match ? Number(match[1]) : null, field: match?.[2] ?? field, message };
}
