import { Type } from '@sinclair/typebox';
import type { ContentAccessDependencies } from '../../application/content/content-access.ts';
import { createEntryHistory } from '../../application/content/entry-history.ts';
import { type ChangesView, readChanges } from '../../application/content/read-changes.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import { TRIGGER_EVENTS } from '../../domain/automation/trigger.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, parsePosition } from '../../domain/event.ts';
import { eventStreamResponse, wantsEventStream } from '../http/event-stream.ts';
import { invalidParameter, wholeNumber } from '../http/query-parameters.ts';
import { type Route, type RouteResponse, route } from '../http/route.ts';
import { Id, Timestamp, nullable, oneOf, strict } from '../http/schemas.ts';
import { type StreamSlots, createStreamSlots, releasing } from '../http/stream-slots.ts';
import { CHANGE_STREAM_PACE, type ChangeStreamPace, changeStream } from './change-stream.ts';
import { READS, requireAccess } from './entry-access.ts';
import { SchemaParams } from './entry-schemas.ts';

export type ChangeRouteDependencies = ContentAccessDependencies & {
  readonly eventStore: EventStore;
  readonly streamSlots?: StreamSlots;
  readonly streamPace?: ChangeStreamPace;
};

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const After = Type.Optional(
  Type.String({
    description: 'The value of next in the previous page: 20 digits; default: the start of the log',
    examples: ['00000000000000000000'],
  }),
);
const Limit = Type.Optional(Type.String({ description: '1 to 1000; default 100', examples: ['100'] }));
const Envelope = nullable(Type.Object({ id: Id }, { additionalProperties: true }));
const Change = Type.Object({
  position: Type.String({ examples: ['00000000000000000042'] }),
  event: oneOf(TRIGGER_EVENTS),
  entry_id: Id,
  version: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  data: Envelope,
  old_data: Envelope,
});

/** The changes feed of a content type: in pages, or as server-sent events that continue with live changes. */
export function changeRoutes(dependencies: ChangeRouteDependencies): readonly Route[] {
  const { eventStore, streamSlots = createStreamSlots(), streamPace = CHANGE_STREAM_PACE } = dependencies;
  const changes = { eventStore, history: createEntryHistory({ eventStore }) };
  return [
    route({
      api: 'content',
      method: 'GET',
      path: '/api/v1/content/{schema}/changes',
      operation: 'readChanges',
      summary:
        'List every change of the entries in log order, including deletions; with Accept: text/event-stream, continue with live changes',
      tag: 'content',
      access: { kind: 'credential' },
      params: SchemaParams,
      query: Type.Object({ after: After, limit: Limit }, strict),
      responses: {
        200: Type.Object({
          data: Type.Array(Change),
          next: Type.String({ description: 'The value of after for the next page' }),
        }),
      },
      streamed: 'text/event-stream',
      refusals: ['schema_not_found', 'schema_write_only', 'too_many_streams'],
      requestHeaders: ['Last-Event-ID'],
      responseHeaders: ['X-Schema-Revision'],
      feature: 'content',
      reads: READS,
      handler: async (request): Promise<RouteResponse> => {
        const view = await requireAccess(request, 'read', dependencies);
        const after = positionOf(request.query.after);
        const limit = wholeNumber('limit', request.query.limit, { min: 1, max: MAX_LIMIT, fallback: DEFAULT_LIMIT });
        const headers = { 'X-Schema-Revision': String(view.type.revision) };
        if (!wantsEventStream(request.header('accept'))) {
          const page = await readChanges({ view, after, limit, signal: request.signal }, changes);
          return { status: 200, json: `{"data":[${page.changes.join(',')}],"next":"${page.next}"}`, headers };
        }
        const viewNow = (principal = request.principal): Promise<ChangesView> =>
          requireAccess({ params: request.params, tenant: request.tenant, principal }, 'read', dependencies);
        const pieces = changeStream(
          {
            view,
            after: resumedFrom(request.header('last-event-id')) ?? after,
            signal: request.signal,
            viewNow: () => sameType(view, viewNow()),
            recheck: async () => sameType(view, viewNow(await request.recheck())),
            pace: streamPace,
          },
          changes,
        );
        return eventStreamResponse(releasing(pieces, streamSlots.take(request.tenant)), headers);
      },
    }),
  ];
}

/** @throws `schema_not_found` when another content type has taken the name of the one that the stream follows */
async function sameType(first: ChangesView, current: Promise<ChangesView>): Promise<ChangesView> {
  const view = await current;
  if (view.type.id !== first.type.id) throw refusal('schema_not_found');
  return view;
}

/** The parameter `after`; default: the start of the log. @throws `invalid_query_parameter` unless it is a position */
function positionOf(text: string | undefined): GlobalPosition {
  if (text === undefined) return ORIGIN;
  const position = parsePosition(text);
  if (position === undefined) throw invalidParameter('after');
  return position;
}

/**
 * The position in `Last-Event-ID`, which a reconnecting client sends.
 * @throws `invalid_header` unless it is a position
 */
function resumedFrom(text: string | undefined): GlobalPosition | undefined {
  if (text === undefined || text === '') return undefined;
  const position = parsePosition(text);
  if (position === undefined)
    throw refusal('invalid_header', { message: 'Last-Event-ID must be a position as the stream sent it' });
  return position;
}
