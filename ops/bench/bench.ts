// `npm run bench`: measures Palimpsest and compares it with the targets and with a minimal server, on one machine in
// one run. Options: --quick (short runs), --only <parts>, --out <directory>. See ops/bench/README.md.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { client, text } from '../../infrastructure/cli/demo/http.ts';
import { addressTimes } from './address-times.ts';
import { benchAppend } from './append.ts';
import { authCost } from './auth.ts';
import { deepCursor } from './deep-cursor.ts';
import { httpWorkloads, seed } from './http-workloads.ts';
import { webhookLatency } from './latency.ts';
import { longHistory } from './long-history.ts';
import { pinned, residentBytes, runJson, startNode } from './processes.ts';
import type { ReplayResult } from './replay.ts';
import { type Figure, meetsTarget, table } from './report.ts';
import { type ServiceUnderTest, startDatabase, startServiceUnderTest } from './service-under-test.ts';

const PARTS = ['append', 'replay', 'http', 'auth', 'deep', 'latency', 'identity', 'start'] as const;
type Part = (typeof PARTS)[number];

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string', default: 'ops/bench/results' },
  },
});
const wanted = values.only?.split(',') ?? PARTS;
for (const part of wanted)
  if (!PARTS.some((known) => known === part)) throw new Error(`--only takes ${PARTS.join(', ')}`);
const seconds = values.quick ? 3 : 10;
const MB = 1024 * 1024;

const parts: Readonly<Record<Part, () => Promise<readonly Figure[]>>> = {
  append,
  replay,
  http,
  auth,
  deep,
  latency,
  identity,
  start,
};
execFileSync(process.execPath, ['ops/build/build.mjs'], { stdio: 'inherit' });
const figures: Figure[] = [];
for (const part of PARTS.filter((known) => wanted.includes(known))) {
  process.stderr.write(`${part} …\n`);
  const measured = await parts[part]();
  figures.push(...measured);
  process.stderr.write(`${table(measured)}\n\n`);
}
const machine = {
  node: process.version,
  cores: cpus().length,
  cpu: cpus()[0]?.model,
  kernel: release(),
  pinned,
  quick: values.quick,
};
mkdirSync(values.out, { recursive: true });
const file = join(values.out, `${new Date().toISOString().replaceAll(':', '-')}.json`);
writeFileSync(
  file,
  JSON.stringify(
    { machine, figures: figures.map((figure) => ({ ...figure, holds: meetsTarget(figure) })) },
    undefined,
    2,
  ),
);
console.log(`${table(figures)}\n\nwritten to ${file}`);

/** Optimistic single-event appends to the PostgreSQL event store, with fsync, on both cores. */
async function append(): Promise<readonly Figure[]> {
  const database = await startDatabase();
  try {
    const { runs, gaps } = await benchAppend({ databaseUrl: database.url('postgres'), seconds });
    return runs.map(({ inFlight, perSecond, p50Ms, p99Ms }) => ({
      name: `append, ${inFlight} in flight`,
      value: perSecond,
      unit: '/s',
      ...(inFlight === 64 ? { target: { least: 15_000 } } : {}),
      note: `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${gaps} gaps seen`,
    }));
  } finally {
    await database.stop();
  }
}

/** Replay of entry events into new read models: events per second, and memory of the process. */
async function replay(): Promise<readonly Figure[]> {
  const database = await startDatabase();
  const events = values.quick ? 100_000 : 1_000_000;
  try {
    const script = 'ops/bench/replay.ts';
    const databaseUrl = database.url('postgres');
    await runJson({ script, input: { databaseUrl, events } });
    await statement(databaseUrl, 'create database replayed');
    const result = await runJson<ReplayResult>({ script, input: { databaseUrl, to: database.url('replayed') } });
    const name = `replay of ${result.events.toLocaleString('en')} events`;
    return [
      { name, value: result.perSecond, unit: 'events/s', target: { least: 30_000 } },
      { name: `${name}, memory`, value: result.peakBytes / MB, unit: 'MB', target: { most: 300 } },
    ];
  } finally {
    await database.stop();
  }
}

/** HTTP workloads of the Content API, compared with the bare server. */
function http(): Promise<readonly Figure[]> {
  return withService({ pinsDatabase: true }, async (service) => {
    const { key, ids } = await seed(service);
    const measured = await httpWorkloads({ service, key, ids, seconds });
    const long = await longHistory({ service, key, revisions: values.quick ? 2_000 : 10_000 });
    await rest(10_000);
    const after = (residentBytes(service.pid) ?? 0) / MB;
    return [...measured, long, { name: 'memory 10 s after load', value: after, unit: 'MB', target: { most: 250 } }];
  });
}

/** Whether response times reveal which e-mail addresses have accounts. */
function identity(): Promise<readonly Figure[]> {
  // The mail server is unreachable, so mails stay in the queue.
  const environment = {
    TRUSTED_PROXIES: '127.0.0.1/32',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: '1',
    SMTP_FROM: 'bench@palimpsest.test',
  };
  return withService({ environment }, (service) => {
    const forgetCounts = () => statement(service.databaseUrl, 'delete from operational.rate_counters');
    return addressTimes({ service, samples: values.quick ? 40 : 200, forgetCounts });
  });
}

/** Cost of the checks of an API key per request. */
async function auth(): Promise<readonly Figure[]> {
  const database = await startDatabase();
  try {
    return await authCost({ databaseUrl: database.url('postgres') });
  } finally {
    await database.stop();
  }
}

/** Paging by cursor through a content type with a million entries. */
function deep(): Promise<readonly Figure[]> {
  return withService({ pinsDatabase: true }, (service) =>
    deepCursor({ service, entries: values.quick ? 50_000 : 1_000_000 }),
  );
}

/** Time from a create to the webhook's request: in process, and through Kafka if `KAFKA_BROKERS` is set. */
async function latency(): Promise<readonly Figure[]> {
  const measured: Figure[] = [];
  const ways = [{ label: 'in process', most: 50, environment: {} }];
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers !== undefined)
    ways.push({
      label: 'through Kafka',
      most: 150,
      environment: { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: `bench${process.pid}` },
    });
  else
    process.stderr.write('through Kafka: not measured, because KAFKA_BROKERS is not set (ops/kafka/broker.sh start)\n');
  for (const { label, most, environment } of ways) {
    const figure = await withService({ environment }, async (service) => {
      const session = await client(service.adminUrl, {})('POST', '/api/admin/setup', {
        email: 'bench@palimpsest.localhost',
        password: 'Bench-Password-7-long',
        setup_token: service.setupToken,
      });
      return webhookLatency({ service, token: text(session, 'token'), label, most });
    });
    measured.push(figure);
  }
  return measured;
}

/** Start-up time and idle memory. */
async function start(): Promise<readonly Figure[]> {
  const database = await startDatabase();
  const home = await mkdtemp(join(tmpdir(), 'palimpsest-start-'));
  try {
    const environment = { databaseUrl: database.url('postgres'), directory: database.directory };
    await (await startServiceUnderTest(environment)).stop();
    const service = await startServiceUnderTest(environment);
    await rest(3_000);
    const idle = (residentBytes(service.pid) ?? 0) / MB;
    await service.stop();
    return [
      { name: 'serve to /readyz, warm', value: service.startedInMs / 1000, unit: 's', target: { most: 2 } },
      { name: 'start with a new embedded PostgreSQL', value: await quickstart(home), unit: 's', target: { most: 4 } },
      { name: 'idle memory', value: idle, unit: 'MB', target: { most: 150 } },
    ];
  } finally {
    await database.stop();
    await rm(home, { recursive: true, force: true });
  }
}

type ServiceOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether PostgreSQL runs on the core of the service. */
  readonly pinsDatabase?: boolean;
};

/** Measures a service with a new database, and stops both. */
async function withService<T>(
  { environment = {}, pinsDatabase = false }: ServiceOptions,
  measure: (service: ServiceUnderTest) => Promise<T>,
): Promise<T> {
  const database = await startDatabase();
  try {
    if (pinsDatabase) pinDatabase(database.directory);
    const databaseUrl = database.url('postgres');
    const service = await startServiceUnderTest({ databaseUrl, directory: database.directory, environment });
    const result = await measure(service);
    await service.stop();
    return result;
  } finally {
    await database.stop();
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Seconds that `palimpsest start` needs in an empty directory until it prints that it runs. */
async function quickstart(home: string): Promise<number> {
  const began = performance.now();
  let greeted: () => void;
  const greeting = new Promise<void>((resolve) => {
    greeted = resolve;
  });
  const started = startNode({
    args: ['dist/palimpsest.js', 'start'],
    env: { SVC_DATA_DIR: join(home, 'data'), ADMIN_LISTEN_ADDR: '127.0.0.1:0', API_LISTEN_ADDR: '127.0.0.1:0' },
    onLine: (line) => {
      if (line.startsWith('Palimpsest is running')) greeted();
    },
  });
  await greeting;
  const took = (performance.now() - began) / 1000;
  await started.stop();
  return took;
}

/** Pins PostgreSQL to the core of the service. The load generator has the other core. */
function pinDatabase(directory: string): void {
  if (!pinned) return;
  for (const pid of execFileSync('pgrep', ['-f', directory]).toString().trim().split('\n')) {
    execFileSync('taskset', ['-acp', '0', pid], { stdio: 'ignore' });
  }
}

async function statement(url: string, sql: string): Promise<void> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  await database.query(sql);
  await database.end();
}
