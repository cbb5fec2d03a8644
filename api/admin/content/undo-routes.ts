import { type Static, Type } from '@sinclair/typebox';
import type { BatchSelector } from '../../../application/content/find-batch.ts';
import {
  type UndoDependencies,
  type UndoReport,
  type UndoneEntry,
  undoBatch,
} from '../../../application/content/undo-batch.ts';
import type { UndoObstacle } from '../../../domain/content/undo-plan.ts';
import { parseDatetime } from '../../../domain/datetime.ts';
import { type FieldError, refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { presentActor } from '../../content/present-entry.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, type RouteResponse, route } from '../../http/route.ts';
import { Actor, Id, Timestamp, nullable, oneOf, strict } from '../../http/schemas.ts';

const BatchId = Type.Optional(Type.String({ minLength: 1, maxLength: 128 }));
const Moment = Type.Optional(Type.String({ description: 'RFC 3339, inclusive' }));
const UndoBody = Type.Object(
  {
    correlation_id: BatchId,
    api_key_id: BatchId,
    from: Moment,
    to: Moment,
    import_id: BatchId,
    apply: Type.Optional(Type.Boolean({ description: 'Default false: reports what would change without changing it' })),
  },
  strict,
);

const Count = Type.Integer({ minimum: 0 });
const Report = Type.Object({
  applied: Type.Boolean(),
  correlation_id: nullable(Type.String(), {
    description: 'Correlation id that undoes this undo; null for a dry run',
  }),
  entries: Type.Array(
    Type.Object({
      entry_id: Id,
      schema: Type.String(),
      action: oneOf(['revert', 'delete', 'undelete', 'none']),
      fields: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
      in_the_way: Type.Array(
        Type.Object({
          field: Type.Optional(Type.String()),
          reason: oneOf(['later_edit', 'refused']),
          message: Type.String(),
          version: Type.Optional(Type.Integer()),
          actor: Type.Optional(Actor),
          at: Type.Optional(Timestamp),
        }),
      ),
    }),
  ),
  truncated: Type.Boolean({ description: 'Whether entries are left out of the list; the totals count all of them' }),
  not_undoable: Type.Array(
    Type.Object({ kind: Type.String(), id: Type.String(), event_id: Type.String(), type: Type.String() }),
  ),
  totals: Type.Object({
    events: Count,
    entries: Count,
    changed: Count,
    in_the_way: Count,
    unchanged: Count,
    not_undoable: Count,
  }),
});

export type UndoRouteDependencies = UndoDependencies;

/** The route that undoes a batch of changes: those of one request, of one API key in a time range, or of one import. */
export function undoRoutes(dependencies: UndoRouteDependencies): readonly Route[] {
  return [
    route({
      api: 'admin',
      method: 'POST',
      path: '/api/admin/undo',
      operation: 'undoBatch',
      summary: 'Undo a batch of changes: a dry run, or with apply new events, which can be undone in turn',
      tag: 'content',
      access: { kind: 'session', roles: ['super_admin'] },
      body: UndoBody,
      responses: { 200: Report },
      refusals: ['undo_nothing_found', 'undo_too_large'],
      handler: async ({ body, context, signal }): Promise<RouteResponse> => {
        const report = await undoBatch(
          { selector: selectorOf(body), apply: body.apply === true, signal },
          context,
          dependencies,
        );
        const { position } = report;
        return {
          status: 200,
          body: presentReport(report),
          ...commitAt(position, ['content']),
        };
      },
    }),
  ];
}

/**
 * The batch that the body names.
 * @throws `validation_failed` unless it names exactly one, with both times for an API key
 */
function selectorOf({ correlation_id, api_key_id, import_id, from, to }: Static<typeof UndoBody>): BatchSelector {
  const ids = [correlation_id, api_key_id, import_id].filter((id) => id !== undefined);
  const [id] = ids;
  if (id === undefined || ids.length > 1)
    throw undoRefusal([{ field: '', message: 'name one of correlation_id, api_key_id and import_id' }]);
  if (api_key_id === undefined) {
    const times = Object.entries({ from, to }).flatMap(([field, time]) =>
      time === undefined ? [] : [{ field, message: 'belongs to api_key_id' }],
    );
    if (times.length > 0) throw undoRefusal(times);
    // The events of an import carry its id as their correlation id.
    return { kind: 'correlation', correlationId: id };
  }
  const [begin, end] = [momentOf(from), momentOf(to)];
  if (begin === undefined || end === undefined) {
    throw undoRefusal(
      Object.entries({ from: begin, to: end }).flatMap(([field, time]) =>
        time === undefined ? [{ field, message: 'must be an RFC 3339 date and time' }] : [],
      ),
    );
  }
  if (begin > end) throw undoRefusal([{ field: 'to', message: 'must not be before from' }]);
  return { kind: 'api_key', keyId: api_key_id, from: begin, to: end };
}

function momentOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseDatetime(text);
}

function undoRefusal(fields: readonly FieldError[]): Error {
  return refusal('validation_failed', { fields });
}

function presentReport({ applied, correlationId, entries, truncated, notUndoable, totals }: UndoReport): JsonObject {
  return {
    applied,
    correlation_id: correlationId ?? null,
    entries: entries.map(presentUndone),
    truncated,
    not_undoable: notUndoable,
    totals,
  };
}

function presentUndone({ id, schema, action, fields, obstacles }: UndoneEntry): JsonObject {
  return { entry_id: id, schema, action, fields, in_the_way: obstacles.map(presentObstacle) };
}

function presentObstacle({ field, reason, message, edit }: UndoObstacle): JsonObject {
  return {
    ...(field === undefined ? {} : { field }),
    reason,
    message,
    ...(edit ? { version: edit.version, actor: presentActor(edit.actor), at: edit.at } : {}),
  };
}
