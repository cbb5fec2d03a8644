import { v7 } from 'uuid';
import { compileAccessRules } from '../../application/identity/compile-access-rules.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import { createPastState } from '../../application/content/past-state.ts';
import type { EntryDependencies } from '../../application/content/run-entry-command.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import { FREE_TIER } from '../../application/ports/entitlements.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeDefinition, FieldDefinition } from '../../domain/content/definition.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import { sqlTypeOf } from '../../domain/content/field-types.ts';
import { FIRST_RULE } from '../../domain/identity/access-rule.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { ORIGIN } from '../../domain/event.ts';
import { openMemoryEventStore } from '../../infrastructure/event-store/memory/memory-event-store.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';
import { createClaims } from '../../infrastructure/postgres/claims.ts';
import { readContentTypes } from '../../projections/content/content-types/rows.ts';
import { createEntryQueries } from '../../projections/content/entries/entry-queries.ts';
import { createPast } from '../../projections/content/entries/past.ts';
import type { Past } from '../../projections/content/entries/past.ts';
import { contentProjection } from '../../projections/content/projection.ts';
import { namesOf } from '../../projections/engine/schemas.ts';
import { useDatabase } from './database.ts';

export const LIVE = { schema: '"rm_content"' };

/** A content service without HTTP: a log in memory, the real read model and claims in Postgres, projected on demand. */
export type ContentBench = {
  eventStore(): EventStore;
  database(): Database;
  dependencies(): EntryDependencies & ReturnType<typeof createEntryQueries> & { readonly past: Past } & { readonly accessRules: AccessRules; readonly entitlements: Entitlements };
  /** Projects what has been appended since. */
  project(batchSize?: number): Promise<void>;
  /** Saves a content type and projects it. */
  save(definition: TestDefinition, tenant?: string): Promise<ContentType>;
  log(): Promise<readonly RecordedEvent[]>;
  /** Takes the softly deleted rows of a type away, as its queued statement does once it is applied. */
  purge(name: string): Promise<void>;
};

export type TestDefinition = Omit<ContentTypeDefinition, 'fields'> & { readonly fields: readonly (Omit<FieldDefinition, 'id'> & { readonly id?: string })[] };

/** A context whose clock moves one second a call. */
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

/** Gives the enclosing `describe` a content service of its own. */
export function useContent(): ContentBench {
  const database = useDatabase();
  let store: EventStore | undefined;
  let dependencies: ReturnType<ContentBench['dependencies']> | undefined;
  let position: GlobalPosition = ORIGIN;
  before(async () => {
    const db = database.db();
    await db.query('create schema rm_content');
    await db.transaction((tx) => contentProjection.create(tx, LIVE));
    store = openMemoryEventStore();
    const past = createPast({ database: db, stateAt: createPastState({ eventStore: store }) });
    const queries = createEntryQueries({ database: db, past });
    dependencies = {
      ...queries,
      past,
      eventStore: store,
      rows: queries.reads,
      claims: createClaims({ database: db, key: Buffer.alloc(32, 7) }),
      types: { get: async (tenant, name) => (await readContentTypes(db, LIVE.schema, { tenant, name, live: true }))[0] },
      accessRules: { decide: compileAccessRules([FIRST_RULE]) },
      entitlements: FREE_TIER,
    };
  });
  after(() => store?.close());

  const bench: ContentBench = {
    eventStore: () => present(store),
    database: () => database.db(),
    dependencies: () => present(dependencies),
    async project(batchSize = 500) {
      for (;;) {
        const events: RecordedEvent[] = [];
        for await (const event of present(store).readAll({ after: position, limit: batchSize, filter: { categories: contentProjection.categories } })) events.push(event);
        const last = events.at(-1);
        if (!last) return;
        await database.db().transaction(async (tx) => {
          await contentProjection.apply(tx, LIVE, events);
          await tx.execute('insert into operational.checkpoints (name, position, epoch) values ($1, $2, 1) on conflict (name) do update set position = excluded.position', [namesOf(contentProjection).checkpoint, last.position]);
        });
        position = last.position;
      }
    },
    async save(definition, tenant = 'default') {
      const typeId = v7();
      const event = contentTypeSaved(definition, typeId);
      const metadata = { tenant, actor: { kind: 'user', id: 'u-1' }, $correlationId: 'c', $causationId: 'c', occurred_at: '2026-02-01T00:00:00.000Z', schema_version: 1 } as const;
      await present(store).append(`content_type-${tenant}.${typeId}`, [{ id: v7(), ...event, metadata }], { expected: 'no_stream' });
      await bench.project();
      return present(await present(dependencies).types.get(tenant, definition.name));
    },
    async purge(name) {
      await database.db().query(`delete from rm_content.${name} where _deleted_at is not null`);
    },
    async log() {
      const events: RecordedEvent[] = [];
      for await (const event of present(store).readAll()) events.push(event);
      return events;
    },
  };
  return bench;
}

/** The event that creates a type with its table. */
export function contentTypeSaved(definition: TestDefinition, typeId: string) {
  const full: ContentTypeDefinition = { ...definition, fields: definition.fields.map((field) => ({ id: `id_${field.name}`, ...field })) };
  const columns = storedFields(full).map(({ key, definition: field }) => ({ name: key, type: sqlTypeOf(field) }));
  const statement = { id: v7(), description: '', sql: '', down_sql: '', operation: { op: 'create_table', columns } };
  return { type: 'ContentTypeSaved', data: { type_id: typeId, definition: full, statements: [statement], canceled: [], retained: [] } } as const;
}

/** A type as the catalogue gives it, without a database. */
export function testType(definition: TestDefinition): ContentType {
  const { data } = contentTypeSaved(definition, '0190b3a8-0000-7000-8000-000000000001');
  return { id: data.type_id, tenant: 'default', name: definition.name, revision: 0, definition: data.definition, fieldNames: [] };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there inside tests and hooks only');
  return value;
}
