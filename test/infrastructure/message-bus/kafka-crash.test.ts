import { expect } from 'chai';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createRelay } from '../../../application/platform/relay.ts';
import { topics } from '../../../application/platform/topics.ts';
import type { MessageBus, ReceivedMessage } from '../../../application/ports/message-bus.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { createKafkaEventFeed } from '../../../infrastructure/message-bus/kafka-event-feed.ts';
import { freePort } from '../../../infrastructure/postgres/embedded/free-port.ts';
import { message } from '../../contract/message-bus-fixtures.ts';
import { recordNotRun, requireService } from '../../support/adapters.ts';
import { useDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { openTestKafka, uniqueName } from '../../support/kafka.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { relayAll } from '../../support/relay.ts';

describe('a crash with Kafka', () => {
  const kafka = requireService('kafka');
  const directory = useDirectory();
  let bus: MessageBus;
  let prefix: string;
  const events = recordedEvents(60, 5);

  before(async () => {
    bus = await openTestKafka({ brokers: kafka.address(), sessionTimeoutMs: 6_000 });
  });
  after(async () => {
    await (bus as MessageBus | undefined)?.close();
  });
  beforeEach(async () => {
    prefix = uniqueName('prefix');
    await bus.ensureTopics(topics(prefix).filter(({ topic }) => topic.endsWith('.events.entry')));
  });

  it('loses no event when a relay is killed between send and checkpoint; the consumer drops the repeated events', async () => {
    const checkpoint = join(directory(), 'checkpoint');
    await writeFile(checkpoint, '0');
    const first = child('relay-child.ts', [kafka.address(), prefix, checkpoint, '20']);
    await first.says('sent');
    await first.kill();
    expect(await readFile(checkpoint, 'utf8')).to.equal('20');
    const second = child('relay-child.ts', [kafka.address(), prefix, checkpoint]);
    await second.says('done');

    const raw: ReceivedMessage[] = [];
    const watcher = await bus.consume({
      topics: [`${prefix}.events.entry`],
      group: uniqueName('group'),
      handler: (one) => Promise.resolve(void raw.push(one)),
    });
    const handled: RecordedEvent[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix, eventStore: openMemoryEventStore() }).start({
      worker: 'w',
      categories: ['entry'],
      handle: (batch) => Promise.resolve(void handled.push(...batch)),
    });
    await eventually(() => {
      expect(raw).to.have.length(80);
      expect(handled).to.have.length(60);
    });
    await feed.stop();
    await watcher.stop();
    for (let stream = 0; stream < 5; stream += 1) {
      const name = `entry-acme.entry${stream}`;
      expect(handled.filter((event) => event.stream === name)).to.deep.equal(
        events.filter((event) => event.stream === name),
      );
    }
  }).timeout(40_000);

  it('loses no message when a consumer is killed between effect and commit; the next one receives some again', async () => {
    await relayAll(events, createRelay({ bus, prefix, changeOf: () => Promise.resolve({}) }));
    const file = join(directory(), 'effects');
    const worker = child('worker-child.ts', [kafka.address(), prefix, 'w', file]);
    await worker.says('standing');
    await worker.kill();
    const effects = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(effects.length).to.be.at.least(10);

    const again: string[] = [];
    const feed = await createKafkaEventFeed({ bus, prefix, eventStore: openMemoryEventStore() }).start({
      worker: 'w',
      categories: ['entry'],
      handle: (batch) => Promise.resolve(void again.push(...batch.map(({ id }) => id))),
    });
    await eventually(
      () => {
        expect(new Set([...effects, ...again]).size).to.equal(events.length);
      },
      { timeoutMs: 20_000 },
    );
    await feed.stop();
    expect(again.some((id) => effects.includes(id))).to.equal(true);
  }).timeout(60_000);
});

describe('a Kafka broker that is killed and restarted', () => {
  requireService('kafka');
  const script = fileURLToPath(new URL('../../../ops/kafka/broker.sh', import.meta.url));
  const cache = fileURLToPath(new URL('../../../.cache/kafka', import.meta.url));
  const broker = async (action: string, port: number, ...more: string[]): Promise<void> => {
    await promisify(execFile)(script, [action, '--port', String(port), ...more], { timeout: 60_000 });
  };
  let port: number | undefined;

  before(async function () {
    this.timeout(60_000);
    if (!existsSync(cache)) {
      await recordNotRun(
        'a Kafka broker that is killed and comes back',
        'ops/kafka/broker.sh has fetched no broker here',
      );
      this.skip();
    }
    port = await freePort();
    await broker('start', port, '--fresh');
  });
  after(async function () {
    this.timeout(60_000);
    if (port === undefined) return;
    await broker('stop', port);
    await rm(join(cache, `node-${port}`), { recursive: true, force: true });
  });

  it('makes publishers fail meanwhile; consumers resume, and no acknowledged message is lost', async () => {
    if (port === undefined) throw new Error('no broker');
    const logger = recordingLogger();
    let fatal: Error | undefined;
    const bus = await openTestKafka({
      brokers: `127.0.0.1:${port}`,
      logger,
      sessionTimeoutMs: 6_000,
      onFatal: (error) => (fatal = error),
    });
    const topic = uniqueName('topic');
    await bus.ensureTopics([{ topic, partitions: 3, compacted: false }]);
    const received = new Set<string>();
    await bus.consume({
      topics: [topic],
      group: uniqueName('group'),
      handler: ({ value }) => Promise.resolve(void received.add(value ?? '')),
    });
    const publishAll = async (from: number): Promise<void> => {
      for (let index = from; index < from + 50; index += 1)
        await bus.publish([message(topic, `key-${index}`, String(index))]);
    };
    await publishAll(0);
    await broker('kill', port);
    const failure = await bus.publish([message(topic, 'key', 'meanwhile')]).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    expect(failure).to.equal('AppError: the message broker is unavailable');
    expect(
      await bus.ping().then(
        () => 'answered',
        () => 'unavailable',
      ),
    ).to.equal('unavailable');
    await broker('start', port);
    await eventually(() => publishAll(50), { timeoutMs: 30_000, everyMs: 200 });
    await eventually(
      () => {
        for (let index = 0; index < 100; index += 1) expect(received.has(String(index)), String(index)).to.equal(true);
      },
      { timeoutMs: 40_000 },
    );
    expect(fatal).to.equal(undefined);
    await bus.close();
  }).timeout(120_000);
});

type Child = { says(word: string): Promise<void>; kill(): Promise<void> };

/** Starts one of the test's child processes. */
function child(file: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(`children/${file}`, import.meta.url));
  const started: ChildProcess = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { stdout } = started;
  if (!stdout) throw new Error('no output');
  const said = new Set<string>();
  const lines = createInterface({ input: stdout });
  lines.on('line', (line) => said.add(line));
  const ended = once(started, 'exit');
  return {
    async says(word) {
      await eventually(
        () => {
          if (!said.has(word)) throw new Error(`${file} did not say ${word}`);
        },
        { timeoutMs: 20_000 },
      );
    },
    async kill() {
      started.kill('SIGKILL');
      await ended;
    },
  };
}
