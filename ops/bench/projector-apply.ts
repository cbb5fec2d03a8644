// Measures how many entry events per second the content projector writes, in batches of 2,000 events.
// Usage: DATABASE_URL=… node --import tsx ops/bench/projector-apply.ts [events]
import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { type RecordedEvent, positionFrom } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { openDatabase } from '../../infrastructure/postgres/database.ts';
import { contentProjection } from '../../projections/content/projection.ts';

const BATCH = 2000;
const TYPE = '0190b3a8-0000-7000-8000-000000000001';
const target = { schema: '"bench_projector"' };
const total = Number(process.argv[2] ?? 100_000);
// Without a default, because the bench creates and drops a schema.
const url = process.env['DATABASE_URL'];
if (url === undefined || url === '') throw new Error('set DATABASE_URL to a database for measuring');
const database = openDatabase({ url });

const field = (name: string, field_type: string) => ({ id: name, name, field_type });
const definition = {
  name: 'article',
  with_draft_publish: true,
  fields: [field('title', 'text'), field('body', 'rich_text'), field('views', 'integer'), field('author', 'text')],
};
const columns = ['title', 'body', 'views', 'author'].map((name) => ({
  name,
  type: name === 'views' ? 'int8' : 'text',
}));
const statements = [{ id: v7(), description: '', sql: '', down_sql: '', operation: { op: 'create_table', columns } }];
const base = { type_id: TYPE, schema: 'article', type_revision: 0 };

let position = 0;
function event(stream: string, revision: number, type: string, data: JsonObject): RecordedEvent {
  const metadata = {
    tenant: 'default',
    actor: { kind: 'api_key', id: TYPE },
    $correlationId: 'c',
    $causationId: 'c',
    occurred_at: '2026-01-01T00:00:00.000Z',
    schema_version: 1,
  } as const;
  return {
    id: v7(),
    stream,
    revision,
    type,
    data,
    metadata,
    position: positionFrom((position += 1)),
    recorded_at: metadata.occurred_at,
  };
}

async function run(name: string, count: number, make: (index: number) => RecordedEvent): Promise<void> {
  let spent = 0;
  for (let at = 0; at < count; at += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - at) }, (_, index) => make(at + index));
    const begun = performance.now();
    await database.transaction((tx) => contentProjection.apply(tx, target, events), { synchronousCommit: false });
    spent += performance.now() - begun;
  }
  console.log(`${name}: ${Math.round((count / spent) * 1000)} events/s (${count} events)`);
}

await database.query(`drop schema if exists ${target.schema} cascade`);
await database.query(`create schema ${target.schema}`);
await database.transaction((tx) => contentProjection.create(tx, target));
await run('content type', 1, () =>
  event(`content_type-default.${TYPE}`, 0, 'ContentTypeSaved', {
    type_id: TYPE,
    definition,
    statements,
    canceled: [],
    retained: [],
  }),
);
for (const size of [200, 2000]) {
  const body = randomBytes(size / 2).toString('hex');
  const ids = Array.from({ length: total }, () => v7());
  const streams = ids.map((id) => `entry-default.${id}`);
  const fields = (index: number) => ({ title: `Title ${index}`, body, views: index, author: 'someone' });
  await run(`create, ${size} B`, total, (index) =>
    event(streams[index] ?? '', 0, 'EntryCreated', { ...base, fields: fields(index), status: 'draft' }),
  );
  await run(`change one field, ${size} B`, total, (index) =>
    event(streams[index] ?? '', 1, 'EntryFieldsChanged', { ...base, fields: { views: index + 1 } }),
  );
  await run(`publish, ${size} B`, total, (index) => event(streams[index] ?? '', 2, 'EntryPublished', base));
  const hot = streams.slice(0, 500);
  await run(`change 500 entries again and again, ${size} B`, total, (index) =>
    event(hot[index % 500] ?? '', 3 + Math.floor(index / 500), 'EntryFieldsChanged', {
      ...base,
      fields: fields(index),
    }),
  );
}
await database.query(`drop schema ${target.schema} cascade`);
await database.close();
