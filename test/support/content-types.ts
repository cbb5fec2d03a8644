import { v7 } from 'uuid';
import { createContentTypeCatalogue } from '../../application/content/content-type-catalogue.ts';
import type { ContentTypeDependencies } from '../../application/content/change-content-type.ts';
import type { ClaimRequest, Claims } from '../../application/ports/claims.ts';
import type { CommandContext } from '../../domain/context.ts';
import { ORIGIN } from '../../domain/event.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { openMemoryEventStore } from '../../infrastructure/event-store/memory/memory-event-store.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { contentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { createSchemaWorkbench } from '../../projections/content/content-types/workbench.ts';
import { contentProjection } from '../../projections/content/projection.ts';

/** The use cases of content types over a memory event store and the real tables; waiting for the read model brings it up to date. */
export async function contentTypeWorld(database: Database) {
  const live = { schema: '"rm_content"' };
  await database.transaction(async (tx) => {
    await tx.query('create schema rm_content');
    await contentProjection.create(tx, live);
  });
  const eventStore = openMemoryEventStore();
  let position: GlobalPosition = ORIGIN;

  let last: Promise<unknown> = Promise.resolve();
  function project(): Promise<boolean> {
    const result = last.then(catchUp);
    last = result;
    return result;
  }

  async function catchUp(): Promise<boolean> {
    for await (const event of eventStore.readAll({ after: position })) {
      await database.transaction((tx) => contentProjection.apply(tx, live, [event]));
      position = event.position;
    }
    return true;
  }

  const queries = contentTypeQueries(database);
  const catalogue = createContentTypeCatalogue({ load: queries.one, position: () => position });
  const claims = heldInMemory();
  const dependencies: ContentTypeDependencies = { eventStore, claims, workbench: createSchemaWorkbench({ database, lockTimeoutMs: 300 }), waitFor: project, catalogue, renamed: () => Promise.resolve(undefined) };
  return { eventStore, queries, catalogue, claims, dependencies, project, live };
}

/** A command's context in a tenant. */
export function contextOf(tenant = 'default'): CommandContext {
  return { tenant, actor: { kind: 'user', id: v7() }, correlationId: v7(), causationId: v7(), now: () => new Date(), newId: () => v7() };
}

/** The port of claims, in memory: one process, no crash. */
export function heldInMemory(): Claims & { readonly held: ReadonlyMap<string, string> } {
  const held = new Map<string, string>();
  const key = ({ tenant, scope, value }: ClaimRequest) => JSON.stringify([tenant, scope, value]);
  return {
    held,
    claim: (owner, requests) => {
      const lost = requests.filter((request) => (held.get(key(request)) ?? owner) !== owner);
      if (lost.length === 0) for (const request of requests) held.set(key(request), owner);
      return Promise.resolve(lost);
    },
    ownerOf: (request) => Promise.resolve(held.get(key(request))),
    heldByOthers: (owner, requests) => Promise.resolve(requests.filter((request) => (held.get(key(request)) ?? owner) !== owner)),
    confirm: (owner, confirmed, released) => {
      for (const request of released) if (held.get(key(request)) === owner) held.delete(key(request));
      for (const request of confirmed) held.set(key(request), owner);
      return Promise.resolve();
    },
    abandon: (owner, requests) => {
      for (const request of requests) if (held.get(key(request)) === owner) held.delete(key(request));
      return Promise.resolve();
    },
    assume: (values) => {
      for (const [owner, requests] of values) for (const request of requests) if (!held.has(key(request))) held.set(key(request), owner);
      return Promise.resolve();
    },
    doubtOthers: () => Promise.resolve(),
    doubtScopes: () => Promise.resolve(),
    endScopes: (tenant, prefix) => {
      for (const known of held.keys()) {
        const [of = '', scope = ''] = JSON.parse(known) as readonly string[];
        if (of === tenant && scope.startsWith(prefix)) held.delete(known);
      }
      return Promise.resolve();
    },
  };
}
