import { chown, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/postgres/embedded/embedded-postgres.ts';

/** A PostgreSQL server and a streaming standby, both of the embedded distribution. */
export type StreamingPair = {
  readonly primaryUrl: string;
  readonly replicaUrl: string;
  /** Stops the standby from applying changes, which it still receives. */
  pauseReplay(): Promise<void>;
  /** Applies the received changes. Resolves when the standby has caught up with the primary. */
  resumeReplay(): Promise<void>;
  stopReplica(): Promise<void>;
  /** Starts the standby again at the same address. */
  startReplica(): Promise<void>;
  close(): Promise<void>;
};

const DATABASE = 'palimpsest';
const SETTINGS = {
  fsync: 'off',
  wal_level: 'replica',
  max_wal_senders: '4',
  wal_keep_size: '512MB',
  shared_buffers: '32MB',
  max_connections: '100',
};

/** Starts both. The standby is a base backup over SQL, because the embedded distribution lacks pg_basebackup. */
export async function startStreamingPair(): Promise<StreamingPair> {
  const directory = await mkdtemp(join(tmpdir(), 'palimpsest-standby-'));
  const [primaryDirectory, replicaDirectory] = [join(directory, 'primary'), join(directory, 'replica')];
  const primary = await startEmbeddedPostgres({ directory: primaryDirectory, settings: SETTINGS });
  await run(primary.url('postgres'), `create database ${DATABASE}`);
  await baseBackup(primary, primaryDirectory, replicaDirectory);
  let replica: EmbeddedPostgres | undefined = await startEmbeddedPostgres({
    directory: replicaDirectory,
    settings: SETTINGS,
  });
  const port = Number(new URL(replica.url(DATABASE)).port);
  const replicaUrl = replica.url(DATABASE);
  const primaryUrl = primary.url(DATABASE);
  return {
    primaryUrl,
    replicaUrl,
    async pauseReplay() {
      await run(replicaUrl, 'select pg_wal_replay_pause()');
      while ((await run(replicaUrl, 'select pg_get_wal_replay_pause_state() as state'))[0]?.['state'] !== 'paused')
        await soon();
    },
    async resumeReplay() {
      await run(replicaUrl, 'select pg_wal_replay_resume()');
      // Read models commit asynchronously. A synchronous commit also flushes the earlier commits.
      await run(primaryUrl, `select pg_logical_emit_message(true, 'test', '')`);
      const [head] = await run(primaryUrl, 'select pg_current_wal_lsn()::text as lsn');
      const reached = `select pg_last_wal_replay_lsn() >= '${String(head?.['lsn'])}'::pg_lsn as reached`;
      while ((await run(replicaUrl, reached))[0]?.['reached'] !== true) await soon();
    },
    async stopReplica() {
      await replica?.stop();
      replica = undefined;
    },
    async startReplica() {
      replica = await startEmbeddedPostgres({ directory: replicaDirectory, settings: SETTINGS, port });
    },
    async close() {
      await replica?.stop();
      await primary.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function baseBackup(primary: EmbeddedPostgres, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url('postgres') });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('standby', true)`);
    const data = join(to, 'data');
    await mkdir(to, { recursive: true });
    await cp(join(from, 'data'), data, {
      recursive: true,
      filter: (path) =>
        !['postmaster.pid', 'postmaster.opts'].includes(basename(path)) && !/pg_wal\/[0-9A-F]{24}$/.test(path),
    });
    await cp(join(from, 'password'), join(to, 'password'));
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(join(data, 'backup_label'), rows[0]?.labelfile ?? '');
    await writeFile(join(data, 'standby.signal'), '');
    const { port, username, password } = new URL(primary.url('postgres'));
    await writeFile(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
    );
    await giveTo(data, await stat(join(from, 'data')));
  } finally {
    await client.end();
  }
}

/** Gives the files to the operating system user that runs the server, who is not root. */
async function giveTo(path: string, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
  await chown(path, owner.uid, owner.gid);
  for (const entry of await readdir(path, { recursive: true })) await chown(join(path, entry), owner.uid, owner.gid);
}

async function run(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));
