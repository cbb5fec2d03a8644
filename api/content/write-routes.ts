import { createEntries } from '../../application/content/create-entries.ts';
import { createEntry } from '../../application/content/create-entry.ts';
import { refuseLockedFields } from '../../application/content/content-access.ts';
import type { ContentAccess } from '../../application/content/content-access.ts';
import { deleteEntry } from '../../application/content/delete-entry.ts';
import { moveEntry } from '../../application/content/move-entry.ts';
import type { EntryOutcome } from '../../application/content/run-entry-command.ts';
import { undeleteEntry } from '../../application/content/undelete-entry.ts';
import { updateEntry } from '../../application/content/update-entry.ts';
import type { AccessAction } from '../../application/ports/access-rules.ts';
import type { EntryMove } from '../../domain/content/entry.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Answer, Route, RouteRequest } from '../http/route.ts';
import { route } from '../http/route.ts';
import { entityTag, expectedVersions } from './entity-tag.ts';
import { requireAccess, requireEntryId } from './entry-access.ts';
import type { EntryRouteDependencies } from './entry-access.ts';
import { BulkAnswerSchema, BulkBody, EntryBody, EntryParams, EntrySchema, SchemaParams } from './entry-schemas.ts';
import { presentEntry } from './present-entry.ts';

const DECLARED = { api: 'content', tag: 'content', feature: 'content', access: { kind: 'credential' } } as const;
const REFUSALS = ['insufficient_permissions', 'schema_not_found', 'schema_read_only', 'permission_denied'] as const;
const ENTRY_REFUSALS = [...REFUSALS, 'entry_not_found', 'entry_changed'] as const;

const MAX_BULK = 1000;

type OnEntry = RouteRequest<{ readonly schema: string; readonly id: string }, unknown, unknown>;

/** Writes of entries (spec 1, Content API). */
export function writeRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  /** Access is refused before the body is looked at. */
  const precheck = (action: AccessAction) => async (request: Parameters<typeof requireAccess>[0]): Promise<void> => {
    await requireAccess(request, action, dependencies);
  };

  async function onEntry(request: OnEntry, action: AccessAction, run: (access: ContentAccess, id: string, versions: readonly number[] | undefined) => Promise<EntryOutcome>) {
    const access = await requireAccess(request, action, dependencies);
    return { access, outcome: await run(access, requireEntryId(request.params.id), expectedVersions(request.header('if-match'))) };
  }

  const move = (verb: EntryMove, summary: string): Route =>
    route({
      ...DECLARED,
      method: 'PUT',
      path: `/api/v1/content/{schema}/{id}/${verb}`,
      operation: `${verb}Entry`,
      summary,
      params: EntryParams,
      answers: { 200: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: [...ENTRY_REFUSALS, 'invalid_status_transition'],
      handler: async (request) => {
        const { access, outcome } = await onEntry(request, 'publish', ({ type }, id, versions) => moveEntry({ type, id, move: verb, versions }, request.context, dependencies));
        return entryAnswer(200, access, outcome);
      },
    });

  return [
    route({
      ...DECLARED,
      method: 'POST',
      path: '/api/v1/content/{schema}',
      operation: 'createEntry',
      summary: 'Create an entry',
      params: SchemaParams,
      body: EntryBody,
      precheck: precheck('create'),
      answers: { 201: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: [...REFUSALS, 'validation_failed', 'unique_value_held'],
      idempotent: true,
      handler: async (request) => {
        const access = await requireAccess(request, 'create', dependencies);
        const data = toData(request.body.data);
        refuseLockedFields(access, data);
        return entryAnswer(201, access, await createEntry({ type: access.type, data }, request.context, dependencies));
      },
    }),
    route({
      ...DECLARED,
      method: 'POST',
      path: '/api/v1/content/{schema}/bulk',
      operation: 'createEntries',
      summary: 'Create 1 to 1000 entries, all or none',
      params: SchemaParams,
      body: BulkBody,
      refuseBody: (problems) =>
        refusal('validation_failed', { body: { errors: problems.map(({ field, message }) => bulkProblem(field, message)) }, fields: problems.map(({ field, message }) => ({ field, message })) }),
      precheck: precheck('create'),
      answers: { 201: BulkAnswerSchema },
      refusals: [...REFUSALS, 'validation_failed', 'unique_value_held'],
      idempotent: true,
      handler: async (request) => {
        const access = await requireAccess(request, 'create', dependencies);
        const items = request.body.entries.map(({ data }) => toData(data));
        if (items.length === 0 || items.length > MAX_BULK) throw refusal('validation_failed', { message: `entries must hold 1 to ${MAX_BULK} items` });
        for (const data of items) refuseLockedFields(access, data);
        const { entries, position } = await createEntries({ type: access.type, items }, request.context, dependencies);
        const body = { created: entries.length, data: entries.map((entry) => presentEntry(access.type, entry, access.hidden)) };
        return { status: 201, body, ...commitOf(position) };
      },
    }),
    route({
      ...DECLARED,
      method: 'PUT',
      path: '/api/v1/content/{schema}/{id}',
      operation: 'updateEntry',
      summary: 'Update the fields the body carries',
      params: EntryParams,
      body: EntryBody,
      precheck: precheck('update'),
      answers: { 200: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: [...ENTRY_REFUSALS, 'validation_failed', 'unique_value_held'],
      handler: async (request) => {
        const data = toData(request.body.data);
        const { access, outcome } = await onEntry(request, 'update', (granted, id, versions) => {
          refuseLockedFields(granted, data);
          return updateEntry({ type: granted.type, id, data, versions }, request.context, dependencies);
        });
        return entryAnswer(200, access, outcome);
      },
    }),
    route({
      ...DECLARED,
      method: 'DELETE',
      path: '/api/v1/content/{schema}/{id}',
      operation: 'deleteEntry',
      summary: 'Delete an entry; its history stays',
      params: EntryParams,
      answers: { 204: null },
      refusals: [...ENTRY_REFUSALS, 'entry_referenced'],
      handler: async (request) => {
        const { outcome } = await onEntry(request, 'delete', ({ type }, id, versions) => deleteEntry({ type, id, versions }, request.context, dependencies));
        return { status: 204, ...commitOf(outcome.position) };
      },
    }),
    move('publish', 'Publish a draft'),
    move('unpublish', 'Take a published entry back to draft'),
    move('archive', 'Archive a draft or a published entry'),
    move('unarchive', 'Take an archived entry back to draft'),
    route({
      ...DECLARED,
      method: 'PUT',
      path: '/api/v1/content/{schema}/{id}/undelete',
      operation: 'undeleteEntry',
      summary: 'Bring back an entry that soft delete has kept',
      params: EntryParams,
      answers: { 200: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: [...ENTRY_REFUSALS, 'invalid_status_transition', 'unique_value_held', 'validation_failed'],
      handler: async (request) => {
        const { access, outcome } = await onEntry(request, 'delete', ({ type }, id, versions) => undeleteEntry({ type, id, versions }, request.context, dependencies));
        return entryAnswer(200, access, outcome);
      },
    }),
  ];
}

/** An entry after a command, made from the command's own state: nothing is read again. */
export function entryAnswer(status: number, { type, hidden }: ContentAccess, { entry, position }: EntryOutcome): Answer {
  return { status, body: presentEntry(type, entry, hidden), headers: { ETag: entityTag(entry.version) }, ...commitOf(position) };
}

function commitOf(position: GlobalPosition | undefined): Pick<Answer, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels: ['content'] } };
}

/** What JSON.parse made of an object is one; the schema has checked that it is an object. */
function toData(data: object): JsonObject {
  return data as JsonObject;
}

/** `entries.3.data.title` as the entry's index and what stands below it. */
function bulkProblem(field: string, message: string): JsonObject {
  const match = /^entries\.(\d+)\.?(.*)$/.exec(field);
  return { index: match ? Number(match[1]) : null, field: match?.[2] ?? field, message };
}
