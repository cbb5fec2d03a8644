import { changeEntry } from '../../application/content/change-entry.ts';
import type { ContentAccess } from '../../application/content/content-access.ts';
import { planPopulate } from '../../application/content/plan-populate.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { isManyToMany, isStored } from '../../domain/content/field-types.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import { entityTag } from '../http/entity-tags.ts';
import { type Route, route } from '../http/route.ts';
import { type EntryRouteDependencies, READS, onEntry, requireAccess, requireEntryId } from './entry-access.ts';
import { RelatedEntries, RelatedQuery, RelationBody, RelationParams, WrittenEntry } from './entry-schemas.ts';
import { parsePaging } from './parse-list-query.ts';
import { entryResponse } from './write-routes.ts';

const SHARED = {
  api: 'content',
  tag: 'content',
  feature: 'content',
  access: { kind: 'credential' },
  path: '/api/v1/content/{schema}/{id}/relations/{field}',
  params: RelationParams,
} as const;

/** Routes that read and replace the entries that one relation of an entry refers to. */
export function relationRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'GET',
      operation: 'listRelated',
      summary: 'List the entries that a relation of an entry refers to, in their order',
      query: RelatedQuery,
      responses: { 200: RelatedEntries },
      refusals: ['schema_not_found', 'schema_write_only', 'permission_denied', 'field_not_found', 'entry_not_found'],
      responseHeaders: ['ETag'],
      reads: READS,
      handler: async (request) => {
        const access = await requireAccess(request, 'read', dependencies);
        const { params, query } = request;
        const { type, hidden, principal } = access;
        const { name } = relationOf(access, params.field);
        const [relation] = await planPopulate(
          { type, hidden, names: [name], depth: 1, principal, transport: 'rest' },
          dependencies,
        );
        // Populate leaves out a relation to a type that the caller may not read; this route then has nothing to return.
        if (!relation) throw refusal('permission_denied');
        const page = await dependencies.listRelated({
          type,
          id: requireEntryId(params.id),
          relation,
          ...parsePaging(query),
        });
        if (!page) throw refusal('entry_not_found');
        return {
          status: 200,
          json: `{"data":${page.json},"total":${page.total}}`,
          headers: { ETag: entityTag(page.version) },
        };
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      operation: 'replaceRelated',
      summary: 'Replace the entries that a belongs_to or many_to_many relation refers to',
      body: RelationBody,
      responses: { 200: WrittenEntry },
      refusals: [
        'insufficient_permissions',
        'schema_not_found',
        'schema_read_only',
        'permission_denied',
        'field_not_found',
        'entry_not_found',
        'entry_changed',
        'validation_failed',
        'unique_value_held',
      ],
      responseHeaders: ['ETag'],
      precheck: async (request) => {
        const access = await requireAccess(request, 'update', dependencies);
        return { access, field: relationOf(access, request.params.field) };
      },
      handler: async (request) => {
        const { access, field } = request.checked;
        const data = linksOf(field, request.body.ids);
        const entry = { id: requireEntryId(request.params.id), access };
        const outcome = await changeEntry({ ...onEntry(entry, request), data }, request.context, dependencies);
        return entryResponse(200, access, outcome);
      },
    }),
  ];
}

/** The relation of this name or key. @throws `field_not_found` unless the type has one that the caller may see */
function relationOf({ type, hidden }: ContentAccess, name: string): FieldDefinition {
  const field = type.definition.fields.find(
    (candidate) =>
      candidate.field_type === 'relation' &&
      (candidate.name === name || (isStored(candidate) && keyOf(candidate) === name)),
  );
  if (!field || hidden.has(field.name)) throw refusal('field_not_found');
  return field;
}

/** The `data` of an update that sets the relation to these ids. @throws `validation_failed` */
function linksOf(field: FieldDefinition, ids: readonly string[]): JsonObject {
  const { name } = field;
  if (!isStored(field)) throw invalidField(name, 'is written on the other side');
  const malformed = ids.find((id) => !UUID_PATTERN.test(id));
  if (malformed !== undefined) {
    const message = `related entry not found: ${malformed.slice(0, 200)}`;
    throw refusal('validation_failed', { message, fields: [{ field: name, message }] });
  }
  if (isManyToMany(field)) return { [name]: ids };
  if (ids.length > 1) throw invalidField(name, 'must contain at most one entry');
  return { [keyOf(field)]: ids[0] ?? null };
}
