import { planPopulate } from '../../application/content/plan-populate.ts';
import type { ContentAccess } from '../../application/content/content-access.ts';
import { updateEntry } from '../../application/content/update-entry.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { isManyToMany, isStored } from '../../domain/content/field-types.ts';
import { uuidPattern } from '../../domain/content/patterns.ts';
import { refusal } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { entityTag, expectedVersions } from './entity-tag.ts';
import { READS, requireAccess, requireEntryId } from './entry-access.ts';
import type { EntryRouteDependencies } from './entry-access.ts';
import { EntrySchema, RelatedParametersSchema, RelatedSchema, RelationBody, RelationParams } from './entry-schemas.ts';
import { parsePaging } from './parse-list-query.ts';
import { entryAnswer } from './write-routes.ts';

const DECLARED = { api: 'content', tag: 'content', feature: 'content', access: { kind: 'credential' }, path: '/api/v1/content/{schema}/{id}/relations/{field}', params: RelationParams } as const;

/** Links of one entry (spec 1, Content API; spec 4 A, relation types). */
export function relationRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  return [
    route({
      ...DECLARED,
      method: 'GET',
      operation: 'listRelated',
      summary: 'Entries that one relation of an entry leads to, in their order',
      reads: READS,
      query: RelatedParametersSchema,
      answers: { 200: RelatedSchema },
      answerHeaders: ['ETag'],
      refusals: ['schema_not_found', 'schema_write_only', 'permission_denied', 'field_not_found', 'entry_not_found'],
      handler: async ({ params, query, principal, ...request }) => {
        const access = await requireAccess({ params, principal, tenant: request.tenant }, 'read', dependencies);
        const { type, hidden } = access;
        const { name } = relationOf(access, params.field);
        if (!principal) throw refusal('authentication_required');
        const [relation] = await planPopulate({ type, hidden, names: [name], depth: 1, principal, transport: 'rest' }, dependencies);
        // Where a list would leave the ids, there is nothing left to answer.
        if (!relation) throw refusal('permission_denied');
        const page = await dependencies.listRelated({ type, id: requireEntryId(params.id), relation, ...parsePaging(query) });
        if (!page) throw refusal('entry_not_found');
        return { status: 200, json: `{"data":${page.json},"total":${page.total}}`, headers: { ETag: entityTag(page.version) } };
      },
    }),
    route({
      ...DECLARED,
      method: 'PUT',
      operation: 'replaceRelated',
      summary: 'Replace the entries that a belongs_to or many_to_many leads to',
      body: RelationBody,
      precheck: async (request) => {
        const access = await requireAccess(request, 'update', dependencies);
        relationOf(access, request.params.field);
      },
      answers: { 200: EntrySchema },
      answerHeaders: ['ETag'],
      refusals: ['insufficient_permissions', 'schema_not_found', 'schema_read_only', 'permission_denied', 'field_not_found', 'entry_not_found', 'entry_changed', 'validation_failed', 'unique_value_held'],
      handler: async (request) => {
        const access = await requireAccess(request, 'update', dependencies);
        const data = linksOf(relationOf(access, request.params.field), request.body.ids);
        const update = { type: access.type, id: requireEntryId(request.params.id), data, versions: expectedVersions(request.header('if-match')) };
        return entryAnswer(200, access, await updateEntry(update, request.context, dependencies));
      },
    }),
  ];
}

/** @throws `field_not_found` for anything but a relation that the caller sees */
function relationOf({ type, hidden }: ContentAccess, name: string): FieldDefinition {
  const field = type.definition.fields.find((candidate) => candidate.field_type === 'relation' && (candidate.name === name || (isStored(candidate) && keyOf(candidate) === name)));
  if (!field || hidden.has(field.name)) throw refusal('field_not_found');
  return field;
}

/** What an update writes for these links. @throws `validation_failed` */
function linksOf(field: FieldDefinition, ids: readonly string[]): JsonObject {
  const { name } = field;
  if (!isStored(field)) throw refuse(name, 'is written on the other side');
  const stranger = ids.find((id) => !uuidPattern.test(id));
  if (stranger !== undefined) throw refuse(name, `related entry not found: ${stranger.slice(0, 200)}`, true);
  if (isManyToMany(field)) return { [name]: ids };
  if (ids.length > 1) throw refuse(name, 'holds one entry at most');
  return { [keyOf(field)]: ids[0] ?? null };
}

function refuse(field: string, message: string, isMessage = false) {
  return refusal('validation_failed', { fields: [{ field, message }], ...(isMessage ? { message } : {}) });
}
