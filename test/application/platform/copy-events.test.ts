import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CopyReport, copyEvents } from '../../../application/platform/copy-events.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import { openEventStoreDb } from '../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { collect, newEvent, newEvents, newStream } from '../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../support/database.ts';
import { type FakeEventStoreDb, startFakeEventStoreDb } from '../../support/fake-eventstoredb/fake-eventstoredb.ts';
import { rejectionOf } from '../../support/rejection.ts';

const pause = () => Promise.resolve();

/**
 * Fills a log like that of a service: interleaved streams, all kinds of values, a large event, one event id in two
 * streams.
 */
async function fill(store: EventStore): Promise<number> {
  const streams = Array.from({ length: 12 }, (_, n) => newStream(n % 3 === 0 ? 'media' : 'entry'));
  for (let round = 0; round < 10; round += 1) {
    for (const [n, stream] of streams.entries())
      await store.append(stream, newEvents(1 + ((round + n) % 3)), { expected: 'any' });
  }
  const odd = newEvent({ data: { z: 1, a: [null, 1.5, '\u0000🦉\ud800', {}], text: 'ü'.repeat(300_000) } });
  await store.append(newStream(), [odd], { expected: 'no_stream' });
  await store.append(newStream(), [{ ...odd, data: {} }], { expected: 'no_stream' });
  await store.append(newStream('user'), newEvents(700), { expected: 'no_stream' });
  const traced = newEvent({});
  await store.append(
    streams[0]!,
    [
      {
        ...traced,
        metadata: { ...traced.metadata, $traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
      },
    ],
    { expected: 'any' },
  );
  return (await collect(store.readAll())).length;
}

const portableEvents = async (store: EventStore) =>
  (await collect(store.readAll())).map(
    ({ position: _position, recorded_at: _recordedAt, append_end: _appendEnd, ...event }) => event,
  );

describe('copy-events', function () {
  this.timeout(60_000);
  const first = useDatabase();
  const second = useDatabase();
  const stores: { from: EventStore; esdb: EventStore; back: EventStore; server: FakeEventStoreDb }[] = [];
  const opened = () => stores[0]!;
  let events = 0;
  before(async () => {
    const server = await startFakeEventStoreDb();
    const [from, esdb, back] = await Promise.all([
      openPostgresEventStore({ database: first.db() }),
      openEventStoreDb({ url: server.url, appendTimeoutMs: 500 }),
      openPostgresEventStore({ database: second.db() }),
    ]);
    stores.push({ from, esdb, back, server });
    events = await fill(from);
  });
  after(async () => {
    const { from, esdb, back, server } = opened();
    await Promise.all([from.close(), esdb.close(), back.close()]);
    await server.stop();
  });

  it('copies from Postgres to EventStoreDB, also when it is interrupted, run again and loses responses', async () => {
    const { from, esdb, server } = opened();
    const interruption = new AbortController();
    let written = 0;
    const stopped = await rejectionOf(
      copyEvents(
        {
          from,
          to: esdb,
          signal: interruption.signal,
          onProgress: () => {
            written += 1;
            if (written === 40) interruption.abort(new Error('interrupted'));
          },
        },
        { pause },
      ),
    );
    expect(stopped).to.be.instanceOf(Error).and.have.property('message', 'interrupted');
    const copiedBefore = (await collect(esdb.readAll())).length;
    expect(copiedBefore).to.be.within(1, events - 1);

    server.faults.appends = 'lost';
    const report = await copyEvents(
      { from, to: esdb },
      {
        pause: () => {
          server.faults.appends = 'none';
          return Promise.resolve();
        },
      },
    );
    expect(report).to.include({ equal: true, sameOrder: true, events, copied: events - copiedBefore });
    expect(await portableEvents(esdb)).to.deep.equal(await portableEvents(from));
  });

  it('copies from EventStoreDB to another Postgres, and copies nothing when it runs again', async () => {
    const { from, esdb, back } = opened();
    const phases = new Set<string>();
    const report = await copyEvents(
      {
        from: esdb,
        to: back,
        onProgress: ({ phase, done, total }) => phases.add(`${phase} ${done <= total}`),
      },
      { pause },
    );
    expect(report).to.deep.equal({
      equal: true,
      sameOrder: true,
      events,
      streams: 15,
      copied: events,
      differences: [],
      heads: { from: await esdb.head(), to: await back.head() },
    } satisfies CopyReport);
    expect([...phases]).to.deep.equal(['copying true', 'comparing true']);
    expect(await portableEvents(back)).to.deep.equal(await portableEvents(from));
    expect(await copyEvents({ from: esdb, to: back }, { pause })).to.include({ equal: true, copied: 0 });
  });

  it('copies only the events that were appended since the last run', async () => {
    const { from, back } = opened();
    const stream = newStream();
    await from.append(stream, newEvents(3), { expected: 'no_stream' });
    events += 3;
    expect(await copyEvents({ from, to: back }, { pause })).to.include({ equal: true, copied: 3, events });
  });

  it('prints one JSON line to stdout and the progress to stderr, and exits with 0 when the stores are equal', async () => {
    const { from, esdb, server } = opened();
    const { code, stdout, stderr } = await command(['--from', first.url(), '--to', server.url]);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({
      equal: true,
      events,
      streams: 16,
      copied: 3,
      same_order: true,
      from_head: await from.head(),
      to_head: await esdb.head(),
      differences: [],
    });
    expect(stderr).to.contain('Comparing 100%');
  });

  it('reports an event that was changed in the copy, and exits with 1', async () => {
    const { from, back } = opened();
    const [target] = await collect(back.readAll({ limit: 1 }));
    await second.db().transaction(async (tx) => {
      await tx.query('alter table eventstore.events disable trigger all');
      await tx.query(`update eventstore.events set data = '{"n":"forged"}' where position = $1`, [
        Number(target!.position),
      ]);
      await tx.query('alter table eventstore.events enable trigger all');
    });
    const report = await copyEvents({ from, to: back }, { pause });
    expect(report.equal).to.equal(false);
    expect(report.differences).to.deep.equal([
      { stream: target!.stream, what: 'content', from: report.differences[0]!.from, to: report.differences[0]!.from },
    ]);
    expect((await command(['--from', first.url(), '--to', second.url()])).code).to.equal(1);
  });

  it('exits with 2 unless two different stores are given', async () => {
    expect((await command(['--from', first.url()])).code).to.equal(2);
    expect((await command(['--from', first.url(), '--to', first.url()])).code).to.equal(2);
  });
});

describe('copy-events between stores with different histories', () => {
  it('fails with a conflict when a stream has other events in the target store', async () => {
    const [from, to] = [openMemoryEventStore(), openMemoryEventStore()];
    const [ours, theirs] = [newEvents(3), newEvents(1)];
    const [one, other] = [newStream(), newStream()];
    await from.append(other, theirs, { expected: 'any' });
    await from.append(one, ours, { expected: 'any' });
    await to.append(one, newEvents(1), { expected: 'any' });
    await to.append(other, theirs, { expected: 'any' });
    const error: unknown = await rejectionOf(copyEvents({ from, to }, { pause }));
    expect(error).to.have.property('code', 'conflict');
    expect(await collect(to.readStream(one))).to.have.length(1);
  });

  it('refuses a target store whose last event the source store does not have', async () => {
    const [from, to] = [openMemoryEventStore(), openMemoryEventStore()];
    await from.append(newStream(), newEvents(2), { expected: 'any' });
    await to.append(newStream(), newEvents(1), { expected: 'any' });
    const error: unknown = await rejectionOf(copyEvents({ from, to }, { pause }));
    expect(error).to.be.instanceOf(Error).and.have.property('message').that.contains('does not');
  });

  it('reports a stream whose events have another order, and a stream that is missing', async () => {
    const [from, to] = [openMemoryEventStore(), openMemoryEventStore()];
    const [events, last] = [newEvents(2), newEvents(1)];
    const [one, two, three] = [newStream(), newStream(), newStream()];
    await from.append(one, events, { expected: 'any' });
    await from.append(three, newEvents(2), { expected: 'any' });
    await from.append(two, last, { expected: 'any' });
    await to.append(one, [...events].reverse(), { expected: 'any' });
    await to.append(two, last, { expected: 'any' });
    const report = await copyEvents({ from, to }, { pause });
    expect(report).to.deep.include({ equal: false, copied: 0 });
    expect(report.differences.map(({ stream, what }) => [stream, what])).to.deep.equal([
      [one, 'ids'],
      [three, 'missing'],
    ]);
  });

  it('fails after eight tries when the target store stays unreachable', async () => {
    const [from, to] = [openMemoryEventStore(), openMemoryEventStore()];
    await from.append(newStream(), newEvents(2), { expected: 'any' });
    const pauses: number[] = [];
    const unreachable: EventStore = {
      ...to,
      append: () => Promise.reject(refusal('store_unavailable')),
      appendMany: () => Promise.reject(refusal('store_unavailable')),
    };
    const error: unknown = await rejectionOf(
      copyEvents({ from, to: unreachable }, { pause: (ms) => Promise.resolve(void pauses.push(ms)) }),
    );
    expect(error).to.have.property('code', 'store_unavailable');
    expect(pauses).to.have.length(7);
  });
});

const cli = fileURLToPath(new URL('../../../infrastructure/cli/palimpsest.ts', import.meta.url));

function command(
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', cli, 'copy-events', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, ...output });
    });
  });
}
