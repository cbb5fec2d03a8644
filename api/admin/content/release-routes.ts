import { Type } from '@sinclair/typebox';
import { changeRelease } from '../../../application/content/change-release.ts';
import { createRelease } from '../../../application/content/create-release.ts';
import { deleteRelease } from '../../../application/content/delete-release.ts';
import { loadRelease } from '../../../application/content/load-release.ts';
import { publishRelease, reportOf } from '../../../application/content/publish-release.ts';
import {
  RELEASES,
  type ReleaseDependencies,
  type ReleaseOutcome,
} from '../../../application/content/release-dependencies.ts';
import { MAX_RELEASE_ITEMS, setReleaseEntries } from '../../../application/content/set-release-entries.ts';
import { RELEASE_ACTIONS } from '../../../domain/content/release-events.ts';
import type { ReleaseRecord } from '../../../domain/content/release-record.ts';
import { parseDatetime } from '../../../domain/datetime.ts';
import { invalidField, refusal } from '../../../domain/errors.ts';
import { CONTENT_WRITERS } from '../../../domain/identity/roles.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type IdRequest, type Route, type RouteResponse, route } from '../../http/route.ts';
import { Actor, Id, IdParams, NullableTimestamp, nullable, oneOf, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';

const SHARED = {
  api: 'admin',
  tag: 'content',
  feature: 'content',
  capability: 'content-pro',
  access: { kind: 'session', roles: CONTENT_WRITERS },
} as const;
const Action = oneOf(RELEASE_ACTIONS);
const ReleaseItem = Type.Object({ entry_id: Id, action: Action }, strict);
const ItemReport = Type.Object({
  entry_id: Id,
  action: Action,
  ok: Type.Boolean(),
  error: Type.Optional(Type.String()),
});
const Release = Type.Object(
  {
    id: Id,
    name: Type.String(),
    description: Type.String(),
    status: oneOf(['draft', 'scheduled', 'publishing', 'published', 'failed']),
    scheduled_at: NullableTimestamp,
    items: Type.Array(ReleaseItem),
    created_at: Type.String(),
    created_by: Actor,
    updated_at: Type.String(),
    published_at: NullableTimestamp,
    report: nullable(Type.Array(ItemReport), {
      description: 'The outcome of each item; null until the release is published or has failed',
    }),
  },
  { title: 'Release' },
);
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Description = Type.Optional(Type.String({ maxLength: 2000 }));
const EntriesBody = Type.Object({ items: Type.Array(ReleaseItem, { maxItems: MAX_RELEASE_ITEMS }) }, strict);

export type ReleaseRouteDependencies = ReleaseDependencies;

/** Routes of releases: sets of entries that are published, unpublished or archived together. */
export function releaseRoutes(dependencies: ReleaseRouteDependencies): readonly Route[] {
  const { releases } = dependencies;
  const one = { ...SHARED, params: IdParams, notFound: 'release_not_found' } as const;
  const changes = ['release_not_found', 'release_published', 'release_in_progress'] as const;

  /** @throws `release_not_found` */
  async function requireRelease({ params, tenant }: IdRequest): Promise<void> {
    if (!(await releases.one(tenant, idOf(params)))) throw refusal('release_not_found');
  }
  /** The response with a release, from its stream, because the read model may not have caught up yet. */
  async function releaseResponse(
    status: number,
    tenant: string,
    { id, position }: ReleaseOutcome,
    readModels: readonly string[] = [RELEASES],
  ): Promise<RouteResponse> {
    const { record } = await loadRelease({ tenant, id }, dependencies);
    if (!record) throw refusal('release_not_found');
    return { status, body: presentRelease(record), ...commitAt(position, readModels) };
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/releases',
      operation: 'listReleases',
      summary: 'List the releases of the tenant, newest first',
      query: PageQuery,
      responses: { 200: Type.Array(Release) },
      reads: [RELEASES],
      handler: async ({ query, tenant }) => ({
        status: 200,
        body: (await releases.list(tenant, query)).map(presentRelease),
        headers: await pageHeaders(query, () => releases.count(tenant)),
      }),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/releases',
      operation: 'createRelease',
      summary: 'Create a release; with scheduled_at it is published at that time',
      body: Type.Object(
        { name: Name, description: Description, scheduled_at: Type.Optional(NullableTimestamp) },
        strict,
      ),
      responses: { 201: Release },
      handler: async ({ body, context, tenant }) => {
        const settings = {
          name: body.name,
          description: body.description ?? '',
          scheduled_at: parseScheduledAt(body.scheduled_at ?? null),
        };
        return releaseResponse(201, tenant, await createRelease(settings, context, dependencies));
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/releases/{id}',
      operation: 'getRelease',
      summary: 'Get one release',
      responses: { 200: Release },
      refusals: ['release_not_found'],
      reads: [RELEASES],
      handler: async ({ params, tenant }) => {
        const record = await releases.one(tenant, idOf(params));
        if (!record) throw refusal('release_not_found');
        return { status: 200, body: presentRelease(record) };
      },
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/releases/{id}',
      operation: 'changeRelease',
      summary: 'Change a release; scheduled_at schedules it, null cancels the schedule',
      body: Type.Object(
        { name: Type.Optional(Name), description: Description, scheduled_at: Type.Optional(NullableTimestamp) },
        strict,
      ),
      responses: { 200: Release },
      refusals: changes,
      precheck: requireRelease,
      handler: async ({ params, body, context, tenant }) => {
        const { scheduled_at: at, ...texts } = body;
        const settings = { ...texts, ...(at === undefined ? {} : { scheduled_at: parseScheduledAt(at) }) };
        return releaseResponse(200, tenant, await changeRelease({ id: idOf(params), settings }, context, dependencies));
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/releases/{id}',
      operation: 'deleteRelease',
      summary: 'Delete a release; entries that it published stay published',
      responses: { 204: null },
      refusals: ['release_not_found', 'release_in_progress'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt((await deleteRelease({ id: idOf(params) }, context, dependencies)).position, [RELEASES]),
      }),
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/releases/{id}/entries',
      operation: 'setReleaseEntries',
      summary: 'Replace the items of a release, at most 1000. Ends a schedule that another person set',
      body: EntriesBody,
      responses: { 200: Release },
      refusals: changes,
      precheck: requireRelease,
      handler: async ({ params, body, context, tenant }) => {
        const items = body.items.map(({ entry_id, action }) => ({ entry_id: entry_id.toLowerCase(), action }));
        return releaseResponse(
          200,
          tenant,
          await setReleaseEntries({ id: idOf(params), items }, context, dependencies),
        );
      },
    }),
    route({
      ...one,
      method: 'POST',
      path: '/api/admin/releases/{id}/publish',
      operation: 'publishRelease',
      summary: 'Publish a release now: all of its items or none, with the rights of the person who set the items too',
      responses: { 200: Release },
      refusals: [...changes, 'release_refused'],
      handler: async ({ params, context, tenant, principal }) => {
        const id = idOf(params);
        const { position } = await publishRelease(
          { id, by: 'caller', roles: principal?.roles ?? [] },
          context,
          dependencies,
        );
        return releaseResponse(200, tenant, { id, position }, ['content', RELEASES]);
      },
    }),
  ];
}

function presentRelease({ refused, items, ...record }: ReleaseRecord): JsonObject {
  const ended = record.status === 'published' || record.status === 'failed';
  return { ...record, items, report: ended ? reportOf(items, refused).map((item) => ({ ...item })) : null };
}

/** The time in UTC with milliseconds. @throws `validation_failed` unless it is an RFC 3339 date and time */
function parseScheduledAt(text: string | null): string | null {
  const moment = text === null ? null : parseDatetime(text);
  if (moment === undefined) throw invalidField('scheduled_at', 'must be an RFC 3339 date and time');
  return moment;
}

function idOf({ id }: { readonly id: string }): string {
  return id.toLowerCase();
}
