import { expect } from 'chai';
import { type JWK, compactVerify, createLocalJWKSet } from 'jose';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { merkleRoot } from '../../domain/platform/audit-chain.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand } from '../support/process.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { testEnvironment, useService } from '../support/service.ts';

type Verdict = {
  readonly ok: boolean;
  readonly checked: number;
  readonly sealed_to: string;
  readonly first_broken: { readonly position: string; readonly event_id: string; readonly kind: string } | null;
};
type Row = { readonly position: number; readonly id: string; readonly stream: string };

describe('the audit chain', () => {
  const service = useService();
  let entries: readonly string[] = [];

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'page',
      fields: [{ name: 'title', field_type: 'text' }],
    });
    const made: string[] = [];
    for (const title of ['one', 'two', 'three'])
      made.push(
        (await service.ownerContent('POST', '/api/v1/content/page', { data: { title } })).json<{ id: string }>().id,
      );
    entries = made;
  });

  const verify = async (): Promise<Verdict> => (await service.owner('GET', '/api/admin/audit/verify')).json<Verdict>();

  /** The events of the entries, oldest first. */
  async function log(): Promise<readonly Row[]> {
    return service.database
      .db()
      .query<Row>(
        `select position, id::text as id, stream from eventstore.events where stream like 'entry-%' order by position`,
      );
  }

  /**
   * Verifies a log that `change` altered as a database superuser could, with the trigger disabled. Restores the log and
   * its chain.
   */
  async function tampered(change: (tx: Transaction) => Promise<unknown>): Promise<Verdict> {
    const db = service.database.db();
    await verify();
    const log = ['eventstore.events', 'eventstore.head'];
    const kept = [...log, 'operational.audit_links', 'operational.audit_heads', 'operational.audit_state'];
    await db.transaction(async (tx) => {
      // As a session of the chain does, so that the service does not extend it meanwhile.
      await tx.query('select pg_advisory_xact_lock(7215304160)');
      for (const [at, table] of kept.entries())
        await tx.query(`create table public.kept_${String(at)} as table ${table}`);
      for (const table of log) await tx.query(`alter table ${table} disable trigger append_only`);
      await change(tx);
      for (const table of log) await tx.query(`alter table ${table} enable always trigger append_only`);
    });
    const verdict = await verify();
    await db.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7215304160)');
      for (const table of log) await tx.query(`alter table ${table} disable trigger append_only`);
      // Only audit signatures can have been appended meanwhile.
      for (const [at, table] of kept.entries()) {
        await tx.query(`delete from ${table}`);
        await tx.query(`insert into ${table} select * from public.kept_${String(at)}`);
        await tx.query(`drop table public.kept_${String(at)}`);
      }
      for (const table of log) await tx.query(`alter table ${table} enable always trigger append_only`);
    });
    return verdict;
  }

  it('verifies an untouched log up to its head', async () => {
    const verdict = await verify();
    const [head] = await service.database
      .db()
      .query<{ checked: number }>(`select count(*) as checked from eventstore.events where stream not like 'audit-%'`);
    expect(verdict.ok).to.equal(true);
    expect(verdict.first_broken).to.equal(null);
    expect(verdict.checked).to.be.at.least(head?.checked ?? NaN);
    expect(verdict.sealed_to).to.match(/^\d{20}$/);
  });

  it('can be verified by a super admin only', async () => {
    await service.owner('POST', '/api/admin/users', {
      email: 'admin@palimpsest.test',
      password: 'Correct-Horse-8-battery',
      roles: ['admin'],
    });
    const { token } = (
      await service.admin('POST', '/api/admin/auth/login', {
        email: 'admin@palimpsest.test',
        password: 'Correct-Horse-8-battery',
      })
    ).json<{ token: string }>();
    expect(
      (await service.admin('GET', '/api/admin/audit/verify', undefined, { authorization: `Bearer ${token}` })).status,
    ).to.equal(403);
  });

  it('detects an event whose data was edited', async () => {
    const [, second] = await log();
    const verdict = await tampered((tx) =>
      tx.query(`update eventstore.events set data = replace(data::text, 'two', 'TWO')::json where position = $1`, [
        second?.position,
      ]),
    );
    expect(verdict.first_broken).to.deep.include({ kind: 'edited', event_id: second?.id });
  });

  it('detects an event whose actor was edited', async () => {
    const [first] = await log();
    const verdict = await tampered((tx) =>
      tx.query(
        `update eventstore.events set metadata = replace(metadata::text, '"user"', '"api_key"')::json where position = $1`,
        [first?.position],
      ),
    );
    expect(verdict.first_broken).to.deep.include({ kind: 'edited', event_id: first?.id });
  });

  it('detects a deleted event', async () => {
    const [, second] = await log();
    const verdict = await tampered((tx) =>
      tx.query('delete from eventstore.events where position = $1', [second?.position]),
    );
    expect(verdict.first_broken).to.deep.include({ kind: 'missing', event_id: second?.id });
  });

  it('detects the first of two events that were swapped', async () => {
    const [first, , third] = await log();
    const verdict = await tampered(async (tx) => {
      await tx.query('update eventstore.events set position = -1 where position = $1', [first?.position]);
      await tx.query('update eventstore.events set position = $1 where position = $2', [
        first?.position,
        third?.position,
      ]);
      await tx.query('update eventstore.events set position = $1 where position = -1', [third?.position]);
    });
    expect(verdict.first_broken).to.deep.include({ kind: 'reordered', event_id: first?.id });
  });

  it('detects the first missing event of a truncated log', async () => {
    const [, second] = await log();
    const verdict = await tampered((tx) =>
      tx.query('delete from eventstore.events where position >= $1', [second?.position]),
    );
    expect(verdict.first_broken).to.deep.include({ kind: 'missing', event_id: second?.id });
  });

  it('detects a truncated log whose chain links were truncated too', async () => {
    const [first, second] = await log();
    const verdict = await tampered(async (tx) => {
      await tx.query('delete from eventstore.events where position >= $1', [second?.position]);
      await tx.query(`delete from operational.audit_links where position >= lpad($1::text, 20, '0')`, [
        second?.position,
      ]);
      await tx.query(
        `update operational.audit_heads h set seq = l.seq, position = l.position, mac = l.mac, sealed_seq = l.seq
         from operational.audit_links l where l.tenant_id = h.tenant_id and l.event_id = $1`,
        [first?.id],
      );
    });
    expect(verdict.first_broken?.kind).to.equal('missing');
  });

  it('detects a chain link that was recomputed without the key', async () => {
    const [, second] = await log();
    const verdict = await tampered(async (tx) => {
      await tx.query(
        `update eventstore.events set data = replace(data::text, 'two', 'TWO')::json where position = $1`,
        [second?.position],
      );
      await tx.query(`update operational.audit_links set digest = 'made up' where event_id = $1`, [second?.id]);
    });
    expect(verdict.first_broken).to.deep.include({ kind: 'edited', event_id: second?.id });
  });

  it('verifies again after the log is restored and more events are appended', async () => {
    await service.ownerContent('PUT', `/api/v1/content/page/${entries[0] ?? ''}`, { data: { title: 'one again' } });
    expect(await verify()).to.deep.include({ ok: true, first_broken: null });
  });

  it('contains audit seals that can be verified with the public key alone', async () => {
    await verify();
    const sealed = (await service.owner('GET', '/api/admin/audit?type=AuditSealed')).json<{ data: { id: string }[] }>()
      .data;
    const event = (await service.owner('GET', `/api/admin/audit/${sealed.at(-1)?.id ?? ''}`)).json<{
      data: { jws: string; from_seq: number; to_seq: number; merkle_root: string };
    }>();
    const keys = (await service.content('GET', '/.well-known/jwks.json')).json<{ keys: JWK[] }>();
    const { payload } = await compactVerify(event.data.jws, createLocalJWKSet(keys));
    const said = JSON.parse(new TextDecoder().decode(payload)) as { merkle_root: string; tenant: string };
    const links = await service.database
      .db()
      .query<{ digest: string }>(
        `select digest from operational.audit_links where tenant_id = 'default' and seq between $1 and $2 order by seq`,
        [event.data.from_seq, event.data.to_seq],
      );
    expect(said).to.deep.include({ tenant: 'default', merkle_root: merkleRoot(links.map(({ digest }) => digest)) });
  });
});

describe('the audit signing', () => {
  const directory = useDirectory();
  const anchorFile = () => join(directory(), 'anchors.jsonl');
  const environment = { SVC_AUDIT_SEAL_SECS: '1', SVC_AUDIT_ANCHOR_FILE: '' };
  before(() => {
    environment.SVC_AUDIT_ANCHOR_FILE = anchorFile();
  });
  const logger = recordingLogger();
  const service = useService({ environment, start: { logger } });

  it('extends the chain with the log and writes audit seals periodically', async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'page',
      fields: [{ name: 'title', field_type: 'text' }],
    });
    const first = await eventually(seals);
    await service.ownerContent('POST', '/api/v1/content/page', { data: { title: 'one' } });
    await eventually(async () => {
      expect((await seals()).length).to.be.greaterThan(first.length);
    });
  });

  it('does not write an audit seal when the only new event is an audit seal', async () => {
    const [row] = await service.database
      .db()
      .query<{ unsealed: number }>(`select unsealed from operational.audit_heads where tenant_id = 'default'`);
    expect(row?.unsealed).to.equal(0);
  });

  it('stops at a chain that was changed: logged, in the metrics, and as degraded in `/readyz`, until it is put back', async () => {
    const db = service.database.db();
    // In one statement under the lock of a session, because the service may be extending the chain.
    await db.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7215304160)');
      await tx.query('create table public.kept_head as table operational.audit_heads');
      await tx.query(`update operational.audit_heads set head_mac = 'forged'`);
    });
    await service.ownerContent('POST', '/api/v1/content/page', { data: { title: 'while stopped' } });
    const ready = await eventually(async () => {
      const response = await service.content('GET', '/readyz');
      expect(response.json()).to.deep.equal({
        status: 'degraded',
        reasons: [{ code: 'audit_chains_stopped', chains: 1 }],
      });
      return response;
    });
    expect(ready.status).to.equal(200);
    expect((await service.owner('GET', '/api/admin/metrics')).text).to.contain('palimpsest_audit_chains_stopped 1');
    expect(logger.lines).to.deep.include({
      level: 'error',
      message: 'an audit chain was stopped',
      fields: { tenant: 'default', reason: 'the MAC of its head is wrong' },
    });
    await db.query(
      'update operational.audit_heads h set head_mac = k.head_mac from public.kept_head k where k.tenant_id = h.tenant_id',
    );
    // Verifying checks all heads at once.
    expect((await service.owner('GET', '/api/admin/audit/verify')).json<Verdict>().ok).to.equal(true);
    await eventually(async () => {
      expect((await service.content('GET', '/readyz')).text).to.equal('{"status":"ok"}');
    });
  });

  it('can be checked by `palimpsest verify-audit`, which exits with 1 when an event was altered', async function () {
    this.timeout(30_000);
    const environment = testEnvironment(service.database.url(), '.');
    const whole = await runCommand(['verify-audit'], environment);
    expect(whole.code).to.equal(0);
    expect(verdictOf(whole.output)).to.deep.include({ tenant: 'default', ok: true, first_broken: null });
    const misspelt = await runCommand(['verify-audit', '--tenant', 'defualt'], environment);
    expect(misspelt.code).to.equal(1);
    expect(misspelt.output).to.contain('the tenant defualt has no events');
    await service.database.db().transaction(async (tx) => {
      await tx.query('alter table eventstore.events disable trigger append_only');
      await tx.query(
        `update eventstore.events set data = replace(data::text, 'one', 'ONE')::json where type = 'EntryCreated'`,
      );
      await tx.query('alter table eventstore.events enable always trigger append_only');
    });
    const broken = await runCommand(['verify-audit', '--tenant', 'default'], environment);
    expect(broken.code).to.equal(1);
    expect(verdictOf(broken.output)).to.deep.include({ ok: false });
  });

  it('copies its signatures to a file, with which `verify-audit --anchors` finds a chain that was written again', async function () {
    this.timeout(60_000);
    const environment = testEnvironment(service.database.url(), '.');
    await eventually(() => {
      expect(readFileSync(anchorFile(), 'utf8')).to.contain('"jws"');
    });
    const whole = verdictOf((await runCommand(['verify-audit', '--anchors', anchorFile()], environment)).output);
    expect(whole).to.have.property('anchors').that.deep.includes({ ok: true, first_broken: null, invalid: 0 });
    // Stands for a chain with other links under the same numbers.
    await runCommand(['verify-audit', '--restart'], environment);
    await service.database.db().query(`update operational.audit_state set generation = 0`);
    const forged = await runCommand(['verify-audit', '--anchors', anchorFile()], environment);
    expect(forged.code).to.equal(1);
    expect(verdictOf(forged.output)).to.have.nested.property('anchors.first_broken.kind', 'edited');
  });

  async function seals(): Promise<readonly object[]> {
    const { data } = (await service.owner('GET', '/api/admin/audit?type=AuditSealed')).json<{
      data: readonly object[];
    }>();
    expect(data).to.not.be.empty;
    return data;
  }

  function verdictOf(output: string): unknown {
    return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '{}');
  }
});
