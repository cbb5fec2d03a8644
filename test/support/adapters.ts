import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartedTestContainer } from 'testcontainers';
import { freePort } from '../../infrastructure/postgres/embedded/free-port.ts';

/** Servers that a test may need besides PostgreSQL. */
export type ServiceName = 'kafka' | 'redis' | 'eventstoredb';

export type Service = {
  /**
   * Kafka: comma-separated `host:port`. Redis and EventStoreDB: connection string. Available inside tests and hooks
   * only.
   */
  address(): string;
};

type Located = { readonly address: string } | { readonly reason: string };

const VARIABLES: Readonly<Record<ServiceName, string>> = {
  kafka: 'TEST_KAFKA_BROKERS',
  redis: 'TEST_REDIS_URL',
  eventstoredb: 'TEST_EVENTSTORE_URL',
};
const RECORD = 'PALIMPSEST_TEST_NOT_RUN';

/** One lookup per process: a container serves all test files of its process, and stops with it. */
const located = new Map<ServiceName, Promise<Located>>();

/**
 * Provides a real server for the enclosing `describe`: the one that `TEST_KAFKA_BROKERS`, `TEST_REDIS_URL` or
 * `TEST_EVENTSTORE_URL` names, otherwise a Docker container. Without both, skips the tests; the end of the run lists
 * the skipped tests with the reason.
 */
export function requireService(name: ServiceName): Service {
  let address: string | undefined;
  before(async function () {
    this.timeout(180_000);
    let attempt = located.get(name);
    if (!attempt) {
      attempt = locate(name);
      located.set(name, attempt);
    }
    const found = await attempt;
    if ('address' in found) {
      address = found.address;
      return;
    }
    const suite = this.test?.parent;
    await recordNotRun(suite?.fullTitle() ?? name, found.reason);
    this.skip();
  });
  return {
    address() {
      if (address === undefined) throw new Error(`${name} is available inside tests and hooks only`);
      return address;
    },
  };
}

/** Records that tests could not run on this machine. The list is printed at the end of the run. */
export async function recordNotRun(what: string, because: string): Promise<void> {
  const line = `not run: ${what}, because ${because}`;
  const file = process.env[RECORD];
  if (file === undefined) console.log(line);
  else await appendFile(file, `${line}\n`);
}

/** For the global setup: makes all worker processes write to one list. */
export async function collectNotRun(): Promise<void> {
  process.env[RECORD] = join(await mkdtemp(join(tmpdir(), 'palimpsest-not-run-')), 'list');
}

/** For the global teardown: prints the list and deletes it. */
export async function printNotRun(): Promise<void> {
  const file = process.env[RECORD];
  if (file === undefined) return;
  const text = await readFile(file, 'utf8').catch(() => '');
  await rm(join(file, '..'), { recursive: true, force: true });
  if (text !== '') console.log(`\n${[...new Set(text.trimEnd().split('\n'))].join('\n')}`);
}

async function locate(name: ServiceName): Promise<Located> {
  const variable = VARIABLES[name];
  const given = process.env[variable];
  if (given !== undefined && given !== '') return { address: given };
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
  } catch {
    return { reason: `${variable} is unset and Docker does not answer` };
  }
  try {
    return { address: await CONTAINERS[name]() };
  } catch (error) {
    return {
      reason: `${variable} is unset and the container did not start: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

const CONTAINERS: Readonly<Record<ServiceName, () => Promise<string>>> = {
  async redis() {
    const container = await start('redis:7-alpine', 6379, {});
    return `redis://${addressOf(container, 6379)}`;
  },
  async eventstoredb() {
    const container = await start('eventstore/eventstore:24.10', 2113, {
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_RUN_PROJECTIONS: 'All',
      EVENTSTORE_START_STANDARD_PROJECTIONS: 'true',
      EVENTSTORE_MEM_DB: 'true',
    });
    return `esdb://${addressOf(container, 2113)}?tls=false`;
  },
  async kafka() {
    // A broker advertises its own address, so its port must be known before it starts.
    const port = await freePort();
    await start(
      'apache/kafka:4.1.1',
      9092,
      {
        KAFKA_NODE_ID: '1',
        KAFKA_PROCESS_ROLES: 'broker,controller',
        KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
        KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
        KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
        KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
        KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      },
      port,
    );
    return `127.0.0.1:${port}`;
  },
};

async function start(
  image: string,
  port: number,
  environment: Record<string, string>,
  hostPort?: number,
): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  return new GenericContainer(image)
    .withEnvironment(environment)
    .withExposedPorts(hostPort === undefined ? port : { container: port, host: hostPort })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(120_000)
    .start();
}

function addressOf(container: StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`;
}
