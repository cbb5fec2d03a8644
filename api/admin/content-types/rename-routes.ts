import type { ContentTypeDependencies } from '../../../application/content/content-type-dependencies.ts';
import { renameContentType } from '../../../application/content/rename-content-type.ts';
import { renameField } from '../../../application/content/rename-field.ts';
import { isRecord } from '../../../domain/content/parse-json.ts';
import { presentContentType } from '../../../domain/content/present-content-type.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Json } from '../../../domain/json.ts';
import type { ContentTypeQueries } from '../../../projections/content/content-types/queries.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { requireContentType } from './require-content-type.ts';
import { ContentType, FieldParams, NameParams, RenameBody, RenamedField } from './schemas.ts';

const READS = ['content'];
const SHARED = {
  api: 'admin',
  method: 'PUT',
  tag: 'content',
  feature: 'schema',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
  body: RenameBody,
  malformedJson: 'invalid_json',
} as const;
const REFUSALS = [
  'schema_not_found',
  'new_name_required',
  'new_name_same',
  'invalid_schema',
  'schema_table_shared',
  'schema_migration_failed',
  'ddl_in_progress',
] as const;

export type RenameRouteDependencies = ContentTypeDependencies & { readonly queries: ContentTypeQueries };

/** Routes that rename content types and fields. */
export function renameRoutes(dependencies: RenameRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      path: '/api/admin/schemas/{name}/rename',
      operation: 'renameContentType',
      summary: 'Rename a content type with its entries and the relations to it',
      grants: ['schemas:write'],
      params: NameParams,
      responses: { 200: ContentType },
      refusals: [...REFUSALS, 'schema_exists'],
      precheck: async ({ tenant, params }) => {
        await requireContentType({ tenant, name: params.name }, dependencies);
      },
      handler: async ({ params, body, context }) => {
        const { definition, position } = await renameContentType(
          { name: params.name, newName: newNameOf(body) },
          context,
          dependencies,
        );
        return {
          status: 200,
          body: presentContentType(definition),
          ...commitAt(position, [...READS, 'identity']),
        };
      },
    }),
    route({
      ...SHARED,
      path: '/api/admin/schemas/{name}/fields/{field}/rename',
      operation: 'renameField',
      summary: 'Rename a field with its values and the rules that name it',
      grants: ['schemas:write'],
      params: FieldParams,
      responses: { 200: RenamedField },
      refusals: [...REFUSALS, 'field_not_found', 'field_exists'],
      precheck: async ({ tenant, params }) => {
        const { definition } = await requireContentType({ tenant, name: params.name }, dependencies);
        if (!definition.fields.some(({ name }) => name === params.field)) throw refusal('field_not_found');
      },
      handler: async ({ params: { name, field }, body, context }) => {
        const { newName, position } = await renameField(
          { name, field, newName: newNameOf(body) },
          context,
          dependencies,
        );
        return {
          status: 200,
          body: { schema: name, old_field: field, new_field: newName },
          ...commitAt(position, READS),
        };
      },
    }),
  ];
}

function newNameOf(body: unknown): Json | undefined {
  return isRecord(body) ? body['new_name'] : undefined;
}
