import { type FieldBlame, blameEntry } from '../../application/content/blame-entry.ts';
import { type Revision, diffRevisions, readRevision, readRevisions } from '../../application/content/read-revisions.ts';
import { restoreEntry } from '../../application/content/restore-entry.ts';
import { revisionWindow } from '../../application/content/revision-window.ts';
import type { EntryDependencies, EntryOutcome } from '../../application/content/run-entry-command.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { RouteRequest, RouteResponse } from '../http/route.ts';
import { type EntryAccess, onEntry } from './entry-access.ts';
import { type ListParameters, parsePaging, wantsCount } from './parse-list-query.ts';
import { presentActor } from './present-entry.ts';

/** Refusals of the route that restores a revision, on both APIs. */
export const RESTORE_REFUSALS = [
  'insufficient_permissions',
  'permission_denied',
  'entry_not_found',
  'revision_not_found',
  'payment_required',
  'entry_changed',
  'validation_failed',
  'unique_value_held',
] as const satisfies readonly ErrorCode[];

export type RevisionHandlerDependencies = EntryDependencies & { readonly entitlements: Entitlements };

type ListRequest = {
  readonly query: Pick<ListParameters, 'limit' | 'offset' | 'count'>;
  readonly context: CommandContext;
};
type RevisionRequest = { readonly params: { readonly rev_id: string }; readonly context: CommandContext };
type DiffRequest = { readonly params: { readonly a: string; readonly b: string }; readonly context: CommandContext };
type RestoreRequest = Pick<
  RouteRequest<{ readonly rev_id: string }, unknown, unknown>,
  'params' | 'header' | 'context'
>;

/** The revision handlers of both APIs. The route finds the entry and checks access before it calls one. */
export function revisionHandlers(dependencies: RevisionHandlerDependencies) {
  const visible = ({ id, access: { type, hidden } }: EntryAccess, context: CommandContext) => ({
    type,
    id,
    hidden,
    window: revisionWindow(context, dependencies),
  });

  return {
    async list(entry: EntryAccess, { query, context }: ListRequest): Promise<RouteResponse> {
      const counted = wantsCount(query);
      const { revisions, total } = await readRevisions(
        { ...visible(entry, context), ...parsePaging(query) },
        dependencies,
      );
      return {
        status: 200,
        body: revisions.map(presentRevision),
        ...(counted ? { headers: { 'X-Total-Count': String(total) } } : {}),
      };
    },
    async get(entry: EntryAccess, { params, context }: RevisionRequest): Promise<RouteResponse> {
      const found = await readRevision({ ...visible(entry, context), revision: params.rev_id }, dependencies);
      return { status: 200, body: { ...presentRevision(found), data: found.data } };
    },
    async diff(entry: EntryAccess, { params: { a: from, b: to }, context }: DiffRequest): Promise<RouteResponse> {
      const changes = await diffRevisions({ ...visible(entry, context), from, to }, dependencies);
      return { status: 200, body: { changes } };
    },
    async blame({ id, access: { type, hidden } }: EntryAccess): Promise<RouteResponse> {
      const blame = await blameEntry({ type, id, hidden }, dependencies);
      return { status: 200, body: { data: blame.map(presentBlame) } };
    },
    restore(entry: EntryAccess, { params, header, context }: RestoreRequest): Promise<EntryOutcome> {
      const restore = {
        ...onEntry(entry, { header }),
        revision: params.rev_id,
        except: entry.access.locked,
        window: revisionWindow(context, dependencies),
      };
      return restoreEntry(restore, context, dependencies);
    },
  };
}

function presentRevision({ id, version, action, actor, created_at, changed }: Revision): JsonObject {
  return { id, version, action, actor: presentActor(actor), created_at, changed };
}

function presentBlame(blame: FieldBlame): JsonObject {
  const { field, value, version, at, actor, credential, correlationId, eventId } = blame;
  return {
    field,
    value,
    version,
    at,
    actor: presentActor(actor),
    credential,
    correlation_id: correlationId,
    event_id: eventId,
  };
}
