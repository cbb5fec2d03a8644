import type { Static, TSchema } from '@sinclair/typebox';
import type { ContentAccess } from '../../application/content/content-access.ts';
import { deleteEntry } from '../../application/content/delete-entry.ts';
import type { EntryDependencies, EntryOutcome } from '../../application/content/run-entry-command.ts';
import { transitionEntry } from '../../application/content/transition-entry.ts';
import { undeleteEntry } from '../../application/content/undelete-entry.ts';
import type { AccessAction } from '../../application/ports/access-rules.ts';
import { ENTRY_TRANSITIONS, type EntryTransition } from '../../domain/content/entry.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { commitAt } from '../http/commit.ts';
import { type Route, type RouteRequest, type RouteResponse, type RouteSpec, route } from '../http/route.ts';
import { type EntryAccess, READS, onEntry } from './entry-access.ts';

const TRANSITION_SUMMARIES: Readonly<Record<EntryTransition, string>> = {
  publish: 'Publish a draft',
  unpublish: 'Set a published entry back to draft',
  archive: 'Archive a draft or a published entry',
  unarchive: 'Set an archived entry back to draft',
};

/** What differs between the two APIs in the routes that change an entry without a body. */
export type EntryChangeApi<P extends TSchema> = {
  /** Members of every route. `path` is the path of the entry. */
  readonly shared: Pick<RouteSpec<P, TSchema, TSchema>, 'api' | 'tag' | 'feature' | 'access' | 'grants' | 'path'> & {
    readonly params: P;
  };
  /** The end of the operation ids, such as `deleteEntry`. */
  readonly noun: 'Entry' | 'AdminEntry';
  /** Declares the response of a route that returns the entry. */
  readonly returns: Pick<Route, 'responses' | 'responseHeaders'>;
  /** Refusals of every route. */
  readonly refusals: readonly ErrorCode[];
  /** Finds the entry that the path names, and checks access to it. */
  readonly requireEntry: (
    request: RouteRequest<Static<P>, unknown, unknown>,
    action: AccessAction,
  ) => Promise<EntryAccess>;
  readonly respond: (status: number, access: ContentAccess, outcome: EntryOutcome) => RouteResponse;
};

export type EntryChangeRouteDependencies = EntryDependencies;

/** The routes that delete an entry, change its status and undelete it. */
export function entryChangeRoutes<P extends TSchema>(
  { shared, noun, returns, refusals, requireEntry, respond }: EntryChangeApi<P>,
  dependencies: EntryChangeRouteDependencies,
): readonly Route[] {
  const { path } = shared;
  return [
    route({
      ...shared,
      method: 'DELETE',
      operation: `delete${noun}`,
      summary: 'Delete an entry; its history is kept',
      responses: { 204: null },
      refusals: [...refusals, 'entry_referenced'],
      handler: async (request) => {
        const entry = await requireEntry(request, 'delete');
        const { position } = await deleteEntry(onEntry(entry, request), request.context, dependencies);
        return { status: 204, ...commitAt(position, READS) };
      },
    }),
    ...ENTRY_TRANSITIONS.map((transition) =>
      route({
        ...shared,
        ...returns,
        method: 'PUT',
        path: `${path}/${transition}`,
        operation: `${transition}${noun}`,
        summary: TRANSITION_SUMMARIES[transition],
        refusals: [...refusals, 'invalid_status_transition'],
        handler: async (request) => {
          const entry = await requireEntry(request, 'publish');
          const outcome = await transitionEntry(
            { ...onEntry(entry, request), transition },
            request.context,
            dependencies,
          );
          return respond(200, entry.access, outcome);
        },
      }),
    ),
    route({
      ...shared,
      ...returns,
      method: 'PUT',
      path: `${path}/undelete`,
      operation: `undelete${noun}`,
      summary: 'Restore a soft-deleted entry',
      refusals: [...refusals, 'invalid_status_transition', 'unique_value_held', 'validation_failed'],
      handler: async (request) => {
        const entry = await requireEntry(request, 'delete');
        const outcome = await undeleteEntry(onEntry(entry, request), request.context, dependencies);
        return respond(200, entry.access, outcome);
      },
    }),
  ];
}
