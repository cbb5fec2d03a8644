import { Type } from '@sinclair/typebox';
import { type RecoverDependencies, recoverField } from '../../../application/content/recover-field.ts';
import { refusal } from '../../../domain/errors.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { Id } from '../../http/schemas.ts';

const RecoveredField = Type.Object({
  recovered: Type.Integer({ description: 'Number of entries whose value was written back' }),
  skipped: Type.Array(Type.Object({ entry_id: Id, reason: Type.String() }), {
    description: 'The first 100 entries whose value was not written back, with the reason',
  }),
  skipped_total: Type.Integer(),
});

export type RecoverFieldRouteDependencies = RecoverDependencies;

/** The route that writes back the values of a removed field after it has been added again. */
export function recoverFieldRoutes(dependencies: RecoverFieldRouteDependencies): readonly Route[] {
  return [
    route({
      api: 'admin',
      method: 'POST',
      path: '/api/admin/schemas/{name}/fields/{field}/recover',
      operation: 'recoverField',
      summary: 'Write back the values that entries had in a removed field of this name',
      tag: 'content',
      access: { kind: 'session', roles: ['super_admin'] },
      params: Type.Object({ name: Type.String(), field: Type.String() }),
      responses: { 200: RecoveredField },
      refusals: ['schema_not_found', 'field_not_found'],
      feature: 'schema',
      handler: async ({ params, tenant, context, signal }) => {
        const type = await dependencies.types.get(tenant, params.name);
        if (!type) throw refusal('schema_not_found');
        const { recovered, skipped, skippedTotal, position } = await recoverField(
          { type, name: params.field, signal },
          context,
          dependencies,
        );
        const body = {
          recovered,
          skipped: skipped.map(({ entryId, reason }) => ({ entry_id: entryId, reason })),
          skipped_total: skippedTotal,
        };
        return {
          status: 200,
          body,
          ...commitAt(position, ['content']),
        };
      },
    }),
  ];
}
