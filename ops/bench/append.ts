import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { EventStore, Expected } from '../../application/ports/event-store.ts';
import { type NewEvent, ORIGIN } from '../../domain/event.ts';
import { openPostgresEventStore } from '../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { openDatabase } from '../../infrastructure/postgres/database.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';

/** Result of one load: a constant number of concurrent appends, each of one event with an expected revision. */
export type AppendRun = {
  readonly inFlight: number;
  readonly appends: number;
  readonly perSecond: number;
  /** Duration of an append in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
};

export type AppendBench = {
  readonly runs: readonly AppendRun[];
  /** Events that a live reader missed, saw twice or saw out of order. Must be 0. */
  readonly gaps: number;
  /** Number of events that the live reader received. */
  readonly followed: number;
  readonly bytesPerEvent: number;
};

export type AppendBenchOptions = {
  /** Connection string of a PostgreSQL server. The bench creates a database on it and drops it afterwards. */
  readonly databaseUrl: string;
  /** Duration of each load. */
  readonly seconds: number;
  /** Numbers of concurrent appends. Default 1, 16, 64, 256. */
  readonly loads?: readonly number[];
};

/** Measures optimistic appends to the PostgreSQL event store, while a live reader checks the order of the events. */
export async function benchAppend({
  databaseUrl,
  seconds,
  loads = [1, 16, 64, 256],
}: AppendBenchOptions): Promise<AppendBench> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await maintain(databaseUrl, `create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const database = openDatabase({ url: url.toString(), maxConnections: 4 });
  try {
    await migrate(database);
    const store = await openPostgresEventStore({ database });
    try {
      const reader = watch(store);
      await load(store, 64, 0.5);
      const runs: AppendRun[] = [];
      for (const inFlight of loads) runs.push(await load(store, inFlight, seconds));
      const { gaps, followed } = await reader.finish(Number(await store.head()));
      const event = newEvent();
      return {
        runs,
        gaps,
        followed,
        bytesPerEvent:
          Buffer.byteLength(JSON.stringify(event.data)) + Buffer.byteLength(JSON.stringify(event.metadata)),
      };
    } finally {
      await store.close();
    }
  } finally {
    await database.close();
    await maintain(databaseUrl, `drop database ${name} with (force)`);
  }
}

async function load(store: EventStore, inFlight: number, seconds: number): Promise<AppendRun> {
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      // Append ten events to an entry, then start the next entry.
      for (let n = 0, stream = '', expected: Expected = 'no_stream'; performance.now() < end; n += 1) {
        if (n % 10 === 0) {
          stream = `entry-default.${uuidv7()}`;
          expected = 'no_stream';
        }
        const sent = performance.now();
        expected = (await store.append(stream, [newEvent()], { expected })).revision;
        latencies.push(performance.now() - sent);
      }
    }),
  );
  const elapsed = (performance.now() - start) / 1000;
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (q: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0) * 100) / 100;
  return {
    inFlight,
    appends: sorted.length,
    perSecond: Math.round(sorted.length / elapsed),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}

/** Follows the log from its start, and counts events that are out of order in the log or in their stream. */
function watch(store: EventStore) {
  const controller = new AbortController();
  let followed = 0;
  let gaps = 0;
  let last = 0;
  const reading = (async () => {
    for await (const item of store.subscribe({ after: ORIGIN, signal: controller.signal })) {
      if (item.kind !== 'events') continue;
      for (const { position } of item.events) {
        if (Number(position) !== last + 1) gaps += 1;
        last = Number(position);
        followed += 1;
      }
    }
  })();
  return {
    async finish(head: number) {
      while (last < head) await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort();
      await reading;
      return { gaps, followed };
    },
  };
}

/** An event with about 450 bytes of data and metadata. */
function newEvent(): NewEvent {
  const correlationId = uuidv7();
  return {
    id: uuidv7(),
    type: 'EntryFieldsChanged',
    data: {
      fields: {
        title: 'A page scraped and written again',
        body: 'What was written before stays readable under it. '.repeat(2),
        views: 1234,
      },
    },
    metadata: {
      tenant: 'default',
      actor: { kind: 'user', id: '0190a5c4-7d1e-7c3a-9f54-0c2f6f1f6e11' },
      $correlationId: correlationId,
      $causationId: correlationId,
      occurred_at: new Date().toISOString(),
      schema_version: 1,
    },
  };
}

async function maintain(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , databaseUrl, seconds = '3'] = process.argv;
  if (!databaseUrl)
    throw new Error('usage: node --import tsx ops/bench/append.ts <url of a PostgreSQL server> [seconds per load]');
  const { runs, ...rest } = await benchAppend({ databaseUrl, seconds: Number(seconds) });
  console.table(runs);
  console.log(rest);
}
