import { Type } from '@sinclair/typebox';
import { blameEntry } from '../../application/content/blame-entry.ts';
import type { FieldBlame } from '../../application/content/blame-entry.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { READS, requireAccess, requireEntryId } from './entry-access.ts';
import type { EntryRouteDependencies } from './entry-access.ts';
import { EntryParams } from './entry-schemas.ts';
import { presentActor } from './present-entry.ts';

/** For each field who wrote its value. */
export const BlameSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      field: Type.String(),
      value: Type.Unknown(),
      version: Type.Integer({ minimum: 1 }),
      at: Type.String({ format: 'date-time' }),
      actor: Type.Object({ kind: Type.String(), id: Type.String() }),
      credential: Type.Object({ kind: Type.String(), id: Type.Union([Type.String(), Type.Null()]) }),
      correlation_id: Type.String(),
      event_id: Type.String({ format: 'uuid' }),
    }),
  ),
});

/** Who wrote what of an entry, read from its stream. */
export function blameRoutes(dependencies: EntryRouteDependencies): readonly Route[] {
  return [
    route({
      api: 'content',
      method: 'GET',
      path: '/api/v1/content/{schema}/{id}/blame',
      operation: 'blameEntry',
      summary: 'For each field who wrote the value it has today, when and through which credential',
      tag: 'content', feature: 'content',
      access: { kind: 'credential' },
      reads: READS,
      params: EntryParams,
      answers: { 200: BlameSchema },
      refusals: ['schema_not_found', 'schema_write_only', 'entry_not_found'],
      handler: async (request) => {
        const { type, hidden } = await requireAccess(request, 'read', dependencies);
        const blame = await blameEntry({ type, id: requireEntryId(request.params.id), hidden }, dependencies);
        return { status: 200, body: { data: blame.map(presentBlame) } };
      },
    }),
  ];
}

/** One field of the answer; also for the admin content. */
export function presentBlame({ field, value, version, at, actor, credential, correlationId, eventId }: FieldBlame): JsonObject {
  return { field, value, version, at, actor: presentActor(actor), credential, correlation_id: correlationId, event_id: eventId };
}
