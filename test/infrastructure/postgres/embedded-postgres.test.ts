import { expect } from 'chai';
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findBinaries } from '../../../infrastructure/postgres/embedded/binaries.ts';
import {
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../infrastructure/postgres/embedded/embedded-postgres.ts';
import { chooseRunAs } from '../../../infrastructure/postgres/embedded/run-as.ts';
import { useDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { rejectionOf } from '../../support/rejection.ts';

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', function () {
  this.timeout(60_000);
  const home = useDirectory();

  before(async () => {
    // Not accessible to other users, like a home directory; the server must start below it.
    expect((await stat(home())).mode & 0o077).to.equal(0);
    await mkdir(join(home(), 'pg'));
  });

  it('creates a cluster on first use, keeps its data over a restart, and stops', async () => {
    const first = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    expect(first.created).to.equal(true);
    await query(first.url('postgres'), 'create table kept as select 7 as n');
    await first.stop();
    expect(await findEmbeddedPostgres(join(home(), 'pg'))).to.equal(undefined);
    const second = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    expect(second.created).to.equal(false);
    expect(await query(second.url('postgres'), 'select n from kept')).to.deep.equal([{ n: 7 }]);
    await second.stop();
  });

  it('stores text in UTF-8 and orders it by code point with any locale', async () => {
    const server = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    const rows = await query(
      server.url('postgres'),
      `select t from (values ('b'), ('Ä'), ('a'), ('B')) v(t) order by t`,
    );
    expect(rows.map(({ t }) => t)).to.deep.equal(['B', 'a', 'b', 'Ä']);
    await server.stop();
  });

  it('refuses a connection without the password', async () => {
    const server = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    const url = new URL(server.url('postgres'));
    url.password = 'wrong';
    const error = await query(url.toString(), 'select 1').then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String(error)).to.match(/password authentication failed/);
    await server.stop();
  });

  it('is found by another command, and starts again after its owner was killed', async () => {
    const owner = fork(new URL('./embedded-owner.ts', import.meta.url), [join(home(), 'pg')], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(owner, 'message');
    const beside = await findEmbeddedPostgres(join(home(), 'pg'));
    expect(await query(beside!.url('postgres'), 'select 1 as n')).to.deep.equal([{ n: 1 }]);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    const again = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    expect(await query(again.url('postgres'), 'select n from kept')).to.deep.equal([{ n: 7 }]);
    await again.stop();
  });

  it('connects the service as a role that owns what is there, starts no program and reads no file', async () => {
    process.env['PALIMPSEST_TEST_SECRET'] = 'not for the server';
    const server = await startEmbeddedPostgres({ directory: join(home(), 'pg') });
    delete process.env['PALIMPSEST_TEST_SECRET'];
    await query(
      server.url('postgres'),
      `create schema made; create sequence made.numbers; create type made.mood as enum ('good');
       create table made.things (id bigint generated always as identity, mood made.mood);
       create view made.all_things as select * from made.things;
       create function made.one() returns int language sql as 'select 1'`,
    );
    const url = await server.serviceUrl('postgres');
    expect(await query(url, 'select rolsuper from pg_roles where rolname = current_user')).to.deep.equal([
      { rolsuper: false },
    ]);
    await query(
      url,
      `alter table made.things add column n int; drop view made.all_things; alter type made.mood add value 'bad';
       alter function made.one() volatile; drop sequence made.numbers; create schema another; drop schema made cascade`,
    );
    for (const statement of [
      `copy (select 1) to program 'true'`,
      `select pg_read_file('/etc/passwd')`,
      'alter role current_user superuser',
      'create role another',
    ])
      expect(String(await rejectionOf(query(url, statement))), statement).to.match(
        /permission denied|must be|Only roles/,
      );
    const beside = await findEmbeddedPostgres(join(home(), 'pg'));
    expect(beside?.serviceUrl('postgres')).to.equal(url);
    if (process.platform === 'linux') {
      const pid = (await readFile(join(home(), 'pg', 'data', 'postmaster.pid'), 'utf8')).split('\n')[0] ?? '';
      expect(await readFile(`/proc/${pid}/environ`, 'utf8')).to.not.contain('not for the server');
    }
    await server.stop();
  });

  it('leaves no server behind when its owner is killed', async function () {
    if (process.platform !== 'linux') this.skip();
    const owner = fork(new URL('./embedded-owner.ts', import.meta.url), [join(home(), 'pg')], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(owner, 'message');
    owner.kill('SIGKILL');
    await eventually(async () => {
      expect(await findEmbeddedPostgres(join(home(), 'pg'))).to.equal(undefined);
    });
  });

  it('reports why it does not start', async () => {
    const error = await startEmbeddedPostgres({
      directory: join(home(), 'pg'),
      settings: { no_such_setting: '1' },
    }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String(error)).to.match(/did not start[\s\S]*no_such_setting/);
    expect(await readFile(join(home(), 'pg', 'postgres.log'), 'utf8')).to.contain('no_such_setting');
  });

  it('runs programs in a directory without access for others, such as a private home directory', async () => {
    const { initdb } = await findBinaries();
    const copy = join(home(), 'programs');
    await cp(dirname(dirname(initdb)), copy, { recursive: true, verbatimSymlinks: true });
    const runAs = await chooseRunAs();
    const cluster = join(home(), 'cluster');
    await mkdir(cluster, { mode: 0o700 });
    if (runAs.owner) await chown(cluster, runAs.owner.uid, runAs.owner.gid);
    const { file, args, ...owner } = runAs.wrap(
      join(copy, 'bin', 'initdb'),
      ['-D', cluster, '-U', 'someone', '--no-sync', '--locale=C'],
      { dieWithParent: true },
    );
    await promisify(execFile)(file, [...args], owner);
    expect((await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()).to.equal('18');
  });
});
