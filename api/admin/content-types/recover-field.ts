import { Type } from '@sinclair/typebox';
import type { RecoverDependencies } from '../../../application/content/recover-field.ts';
import { recoverField } from '../../../application/content/recover-field.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';

const Recovered = Type.Object({
  recovered: Type.Integer({ description: 'Entries that got their value' }),
  skipped: Type.Array(Type.Object({ entry_id: Type.String({ format: 'uuid' }), reason: Type.String() }), { description: 'The first hundred that did not' }),
  skipped_total: Type.Integer(),
});

/** Brings back the values of a removed field that was added again (spec 4 B, removed values stay in the history). */
export function recoverFieldRoute(dependencies: RecoverDependencies): Route {
  return route({
    api: 'admin', tag: 'content', feature: 'schema', access: { kind: 'session', roles: ['super_admin'] },
    method: 'POST', path: '/api/admin/schemas/{name}/fields/{field}/recover', operation: 'recoverField', summary: 'Write back the values that entries held in removed fields of this name',
    params: Type.Object({ name: Type.String(), field: Type.String() }),
    answers: { 200: Recovered }, refusals: ['schema_not_found', 'field_not_found'],
    handler: async ({ params, tenant, context, signal }) => {
      const type = await dependencies.types.get(tenant, params.name);
      if (!type) throw refusal('schema_not_found');
      const { recovered, skipped, skippedTotal, position } = await recoverField({ type, name: params.field, signal }, context, dependencies);
      const body = { recovered, skipped: skipped.map(({ entryId, reason }) => ({ entry_id: entryId, reason })), skipped_total: skippedTotal };
      return { status: 200, body, ...(position === undefined ? {} : { commit: { position, readModels: ['content'] } }) };
    },
  });
}
