import { createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import { type Cursors, createCursors } from '../../api/content/cursor.ts';
import type { ContentTypeDependencies } from '../../application/content/content-type-dependencies.ts';
import {
  type CachedContentTypeDirectory,
  createContentTypeDirectory,
} from '../../application/content/content-type-directory.ts';
import { createPastState } from '../../application/content/past-state.ts';
import type { EntryDependencies } from '../../application/content/run-entry-command.ts';
import { compileAccessRules } from '../../application/identity/compile-access-rules.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { Claims } from '../../application/ports/claims.ts';
import { type Entitlements, FREE_TIER } from '../../application/ports/entitlements.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeDefinition, FieldDefinition } from '../../domain/content/definition.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { columnTypeOf } from '../../domain/content/field-types.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { DEFAULT_ACCESS_RULE } from '../../domain/identity/access-rule.ts';
import { openMemoryEventStore } from '../../infrastructure/event-store/memory/memory-event-store.ts';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { createClaims } from '../../infrastructure/postgres/claims.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { type ContentTypeQueries, createContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { readContentTypes } from '../../projections/content/content-types/rows.ts';
import { schemaRenderer } from '../../projections/content/content-types/schema-renderer.ts';
import { createSchemaSessions } from '../../projections/content/content-types/schema-sessions.ts';
import { createEntryQueries } from '../../projections/content/entries/entry-queries.ts';
import { type PastReader, createPastReader } from '../../projections/content/entries/past-reader.ts';
import { contentProjection } from '../../projections/content/projection.ts';
import { namesOf } from '../../projections/engine/read-model-schemas.ts';
import { useDatabase } from './database.ts';
import { testMetadata } from './test-metadata.ts';

/** The live read model. */
export const LIVE = { schema: '"rm_content"' };

/** The use cases of content without HTTP. The accessors work inside tests and hooks only. */
export type Content = {
  eventStore(): EventStore;
  database(): Database;
  /** What the use cases of entries need. */
  dependencies(): EntryDependencies &
    ReturnType<typeof createEntryQueries> & {
      readonly past: PastReader;
      readonly signCursor: (text: string) => string;
      readonly accessRules: AccessRules;
      readonly entitlements: Entitlements;
    };
  /** What the use cases of content types need. */
  contentTypes(): ContentTypeDependencies;
  contentTypeQueries(): ContentTypeQueries;
  types(): CachedContentTypeDirectory;
  /** Brings the read model up to date with the event store, in batches of at most `batchSize` events. */
  project(batchSize?: number): Promise<void>;
  /** Appends the event that creates a content type, and projects it. */
  save(definition: TestDefinition, tenant?: string): Promise<ContentType>;
  /** Position of the log at which the module was opened. */
  start(): GlobalPosition;
  /** All events since then, in the order of the log. */
  log(): Promise<readonly RecordedEvent[]>;
  /** Deletes the softly deleted rows of a content type, as its pending statement does when it is applied. */
  purge(name: string): Promise<void>;
  close(): Promise<void>;
};

export type TestDefinition = Omit<ContentTypeDefinition, 'fields'> & {
  readonly fields: readonly (Omit<FieldDefinition, 'id'> & { readonly id?: string })[];
};

/** A command's context, with a clock that moves one second per call. */
export function testContext(given: Partial<CommandContext> = {}): CommandContext {
  let seconds = 0;
  const start = Date.parse('2026-03-01T00:00:00.000Z');
  return {
    tenant: 'default',
    actor: { kind: 'api_key', id: 'key-1' },
    correlationId: 'c-1',
    causationId: 'c-1',
    now: () => new Date(start + 1000 * (seconds += 1)),
    newId: v7,
    ...given,
  };
}

export type ContentOptions = {
  readonly claims?: Claims;
  /** `memory`: a store whose appends take no guards. Default: the Postgres store. */
  readonly store?: 'postgres' | 'memory';
};

function signCursor(text: string): string {
  return createHmac('sha256', 'a key of tests').update(text).digest('base64url');
}

/** The cursors of a content type, signed as by the routes of a test. */
export function testCursors({ id }: Pick<ContentType, 'id'>): Cursors {
  return createCursors({ typeId: id, sign: signCursor });
}

/** Opens the content module on a database without read models, with the real tables. */
export async function openContent({
  database,
  claims = createClaims({ database, key: Buffer.alloc(32, 7) }),
  store = 'postgres',
}: ContentOptions & { readonly database: Database }): Promise<Content> {
  await database.transaction(async (tx) => {
    await tx.query('create schema rm_content');
    await contentProjection.create(tx, LIVE);
  });
  const eventStore = store === 'memory' ? openMemoryEventStore() : await openPostgresEventStore({ database });
  const past = createPastReader({ database, stateAt: createPastState({ eventStore }) });
  const entryQueries = createEntryQueries({ database, past });
  const queries = createContentTypeQueries({ database });
  // The log of the database may hold events of a world that was opened before.
  const start = await eventStore.head();
  let position: GlobalPosition = start;
  const cachedTypes = createContentTypeDirectory({ load: queries.one, position: () => position });

  async function projectNextBatch(batchSize: number): Promise<boolean> {
    const events: RecordedEvent[] = [];
    for await (const event of eventStore.readAll({
      after: position,
      limit: batchSize,
      filter: { categories: contentProjection.categories },
    }))
      events.push(event);
    const last = events.at(-1);
    if (!last) return false;
    await database.transaction(async (tx) => {
      await contentProjection.apply(tx, LIVE, events);
      await tx.execute(
        'insert into operational.checkpoints (name, position, epoch) values ($1, $2, 1) on conflict (name) do update set position = excluded.position',
        [namesOf(contentProjection).checkpoint, last.position],
      );
    });
    position = last.position;
    return true;
  }

  // One batch at a time: concurrent commands wait for the same read model.
  let projecting: Promise<void> = Promise.resolve();
  function project(batchSize = 500): Promise<void> {
    const next = projecting.then(async () => {
      while (await projectNextBatch(batchSize));
    });
    projecting = next;
    return next;
  }

  const types: EntryDependencies['types'] = {
    get: async (tenant, name) => (await readContentTypes(database, LIVE.schema, { tenant, name, live: true }))[0],
  };
  const entries = {
    ...entryQueries,
    past,
    signCursor,
    eventStore,
    entryRows: entryQueries.reads,
    claims,
    progress: { waitFor: () => project().then(() => true) },
    compensated: () => undefined,
    types,
    accessRules: { decide: compileAccessRules([DEFAULT_ACCESS_RULE]) },
    entitlements: FREE_TIER,
  };
  const contentTypes: ContentTypeDependencies = {
    eventStore,
    claims,
    schemaSessions: createSchemaSessions({ database, lockTimeoutMs: 300 }),
    renderer: schemaRenderer,
    progress: { waitFor: () => project().then(() => true) },
    types: cachedTypes,
    renameInAccess: () => Promise.resolve(undefined),
  };
  return {
    eventStore: () => eventStore,
    database: () => database,
    dependencies: () => entries,
    contentTypes: () => contentTypes,
    contentTypeQueries: () => queries,
    types: () => cachedTypes,
    project,
    async save(definition, tenant = 'default') {
      const typeId = v7();
      const event = contentTypeSaved(definition, typeId);
      const metadata = testMetadata({
        tenant,
        actor: { kind: 'user', id: 'u-1' },
        occurred_at: '2026-02-01T00:00:00.000Z',
      });
      await eventStore.append(`content_type-${tenant}.${typeId}`, [{ id: v7(), ...event, metadata }], {
        expected: 'no_stream',
      });
      await project();
      return present(await types.get(tenant, definition.name));
    },
    async purge(name) {
      await database.query(`delete from rm_content.${name} where _deleted_at is not null`);
    },
    start: () => start,
    async log() {
      const events: RecordedEvent[] = [];
      for await (const event of eventStore.readAll({ after: start })) events.push(event);
      return events;
    },
    close: () => eventStore.close(),
  };
}

/** Opens the content module for the enclosing `describe`, on a database of its own. */
export function useContent(options: ContentOptions = {}): Content {
  const database = useDatabase();
  let opened: Content | undefined;
  before(async () => {
    opened = await openContent({ database: database.db(), ...options });
  });
  after(() => opened?.close());
  const content = (): Content => present(opened);
  return {
    eventStore: () => content().eventStore(),
    database: () => database.db(),
    dependencies: () => content().dependencies(),
    contentTypes: () => content().contentTypes(),
    contentTypeQueries: () => content().contentTypeQueries(),
    types: () => content().types(),
    project: (batchSize) => content().project(batchSize),
    save: (definition, tenant) => content().save(definition, tenant),
    log: () => content().log(),
    purge: (name) => content().purge(name),
    start: () => content().start(),
    close: () => content().close(),
  };
}

/** The event that creates a content type and its table. */
export function contentTypeSaved(definition: TestDefinition, typeId: string) {
  const full: ContentTypeDefinition = {
    ...definition,
    fields: definition.fields.map((field) => ({ id: `id_${field.name}`, ...field })),
  };
  const columns = storedFields(full).map(({ key, definition: field }) => ({ name: key, type: columnTypeOf(field) }));
  const statement = { id: v7(), description: '', sql: '', down_sql: '', operation: { op: 'create_table', columns } };
  return {
    type: 'ContentTypeSaved',
    data: { type_id: typeId, definition: full, statements: [statement], canceled: [], retained: [] },
  } as const;
}

/** A content type as the directory returns it, without a database. */
export function testType(definition: TestDefinition): ContentType {
  const { data } = contentTypeSaved(definition, '0190b3a8-0000-7000-8000-000000000001');
  return {
    id: data.type_id,
    tenant: 'default',
    name: definition.name,
    revision: 0,
    definition: data.definition,
    fieldNames: [],
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the content module is open inside tests and hooks only');
  return value;
}
