import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openCommands } from '../../../../infrastructure/composition/commands/open-commands.ts';
import { environmentLayer, readSettings } from '../../../../infrastructure/configuration/read-settings.ts';
import { createLogger } from '../../../../infrastructure/logging/create-logger.ts';
import { codeOf } from '../../../support/authenticator.ts';
import { admin as server, serverUrl } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { statusAndError } from '../../../support/http.ts';
import { OWNER } from '../../../support/owner.ts';
import { useReplicas } from '../../../support/replicas.ts';
import { useService } from '../../../support/service.ts';

const PASSWORD = 'Another-Good-Pass-1';
type Records = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
type Exported = { readonly subject: unknown; readonly generated_at: string; readonly records: Records };
type Erased = {
  readonly erased: Readonly<Record<string, number>>;
  readonly kept: readonly { readonly kind: string; readonly why: string }[];
};
type Session = { readonly token: string; readonly refresh_token: string; readonly user: { readonly id: string } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the privacy routes', function () {
  this.timeout(30_000);
  const service = useService();
  const exported = (body: unknown) => service.owner('POST', '/api/admin/gdpr/export', body);
  const erased = (body: unknown) => service.owner('POST', '/api/admin/gdpr/erase', body);
  let n = 0;

  beforeEach(() => service.database.db().execute('truncate operational.rate_counters'));

  async function person(
    roles: readonly string[] = ['editor'],
  ): Promise<{ readonly id: string; readonly email: string; readonly session: Session }> {
    n += 1;
    const email = `person-${n}@people.palimpsest.test`;
    const made = await service.owner('POST', '/api/admin/users', { email, password: PASSWORD, roles });
    expect(made.status, made.text).to.equal(201);
    const session = await service.admin('POST', '/api/admin/auth/login', { email, password: PASSWORD });
    expect(session.status, session.text).to.equal(200);
    return { id: made.json<{ id: string }>().id, email, session: session.json<Session>() };
  }

  before(async () => {
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [{ name: 'title', field_type: 'text' }],
    });
  });

  it('are for super admins in a session', async () => {
    const { session } = await person(['admin']);
    for (const path of ['/api/admin/gdpr/export', '/api/admin/gdpr/erase']) {
      expect((await service.admin('POST', path, { email: 'x' })).status).to.equal(401);
      const refused = await service.admin('POST', path, { email: 'x' }, bearer(session.token));
      expect(statusAndError(refused)).to.deep.equal([403, 'insufficient permissions']);
    }
  });

  it('answer 404 for an unknown person, and 422 unless exactly one of e-mail address and user id is given', async () => {
    for (const body of [
      { email: 'nobody@palimpsest.test' },
      { email: 'no address' },
      { user_id: '0192f0c0-0000-7000-8000-000000000001' },
      { user_id: 'x.../' },
    ]) {
      for (const call of [exported, erased]) {
        await service.database.db().execute('truncate operational.rate_counters');
        const reply = await call(body);
        expect(statusAndError(reply), JSON.stringify(body)).to.deep.equal([404, 'person not found']);
      }
    }
    await service.database.db().execute('truncate operational.rate_counters');
    for (const body of [{}, { email: 'a@b.cd', user_id: 'x' }, { email: 7 }, { mail: 'a@b.cd' }])
      expect((await exported(body)).status).to.equal(422);
  });

  it('allow 10 calls a minute together, then answer 429', async () => {
    for (let call = 0; call < 10; call += 1)
      expect((await (call % 2 === 0 ? exported : erased)({ email: 'nobody@palimpsest.test' })).status).to.equal(404);
    const refused = await exported({ email: 'nobody@palimpsest.test' });
    expect(statusAndError(refused)).to.deep.equal([429, 'rate limit exceeded']);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    expect(refused.json()).to.include({ remaining: 0, limit: 10 });
  });

  it('export all data about a person', async () => {
    const { id, email, session } = await person(['admin']);
    const made = await service.admin(
      'POST',
      '/api/admin/api-keys',
      { name: 'mine', roles: [], scopes: ['*:read'] },
      bearer(session.token),
    );
    expect(made.status, made.text).to.equal(201);
    const key = made.json<{ id: string; raw_key: string }>();
    await service.content('GET', '/api/v1/content/note', undefined, { 'x-api-key': key.raw_key });
    const entry = (
      await service.content('POST', '/api/v1/content/note', { data: { title: 'by a person' } }, bearer(session.token))
    ).json<{ id: string }>();
    await service.content(
      'PUT',
      `/api/v1/content/note/${entry.id}`,
      { data: { title: 'by a person again' } },
      bearer(session.token),
    );
    await service.owner('GET', `/api/admin/api-keys/${key.id}/audit`);
    const reply = await exported({ email: ` ${email.toUpperCase()} ` });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(reply.headers['cache-control']).to.equal('no-store');
    const { subject, generated_at, records } = reply.json<Exported>();
    expect(subject).to.deep.equal({ user_ids: [id], email });
    expect(Date.parse(generated_at)).to.be.closeTo(Date.now(), 10_000);
    expect(records['users']).to.have.length(1);
    expect(records['users']?.[0]).to.include({ id, email, disabled: false, deleted: false });
    expect(records['memberships']).to.deep.equal([{ user_id: id, tenant_id: 'default', roles: ['admin'] }]);
    expect(records['sign_ins']?.map(({ method }) => method)).to.deep.equal(['password']);
    expect(records['sessions']?.[0]).to.include({ user_id: id, tenant_id: 'default' });
    expect(records['credentials']?.map((one) => [one['kind'], one['id'], one['name']])).to.deep.equal([
      ['api_key', key.id, 'mine'],
    ]);
    expect(records['credential_requests']?.[0]).to.include({
      credential_id: key.id,
      method: 'GET',
      path: '/api/v1/content/note',
      ip: '127.0.0.1',
    });
    expect(records['audit_events']?.map(({ type }) => type)).to.deep.equal([
      'UserCreated',
      'UserSignedIn',
      'ApiKeyCreated',
      'EntryCreated',
      'EntryFieldsChanged',
    ]);
    expect(records['entries']?.map((one) => [one['id'], one['events']])).to.deep.equal([[entry.id, 2]]);
    expect(reply.text)
      .to.not.contain(key.raw_key)
      .and.to.not.contain('$sealed')
      .and.to.not.contain(session.refresh_token);
    expect((await exported({ user_id: id })).json<Exported>().records['users']).to.deep.equal(records['users']);
  });

  it('erase a person: end sessions, free the address, keep the events without a name, and keep the audit chain valid', async () => {
    const { id, email, session } = await person();
    const entry = (
      await service.content('POST', '/api/v1/content/note', { data: { title: 'stays' } }, bearer(session.token))
    ).json<{ id: string }>();
    const reply = await erased({ email });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers['x-commit-position']).to.match(/^\d{20}$/);
    const { erased: gone, kept } = reply.json<Erased>();
    expect(gone).to.include({ users: 1, memberships: 1, sessions: 1, person_keys: 1 });
    expect(kept.map(({ kind }) => kind)).to.deep.equal(['events', 'entries', 'comments', 'credentials', 'backups']);
    expect(kept.every(({ why }) => why.length > 20)).to.equal(true);

    expect((await service.content('GET', '/api/v1/schemas', undefined, bearer(session.token))).status).to.equal(401);
    expect(
      (await service.admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })).status,
    ).to.equal(401);
    expect((await service.admin('POST', '/api/admin/auth/login', { email, password: PASSWORD })).status).to.equal(401);
    for (const body of [{ email }, { user_id: id }]) {
      expect((await exported(body)).status).to.equal(404);
      expect((await erased(body)).json()['error']).to.equal('person not found');
    }
    expect(
      (await service.ownerContent('GET', `/api/v1/content/note/${entry.id}`)).json<{ data: object }>().data,
    ).to.include({ title: 'stays' });
    const trail = (await service.owner('GET', `/api/admin/audit?resource=user:${id}`))
      .json<{ data: { type: string }[] }>()
      .data.map(({ type }) => type);
    expect(trail.slice(0, 2)).to.deep.equal(['UserErased', 'UserDeleted']);
    const verdict = (await service.owner('GET', '/api/admin/audit/verify')).json<{ ok: boolean; checked: number }>();
    expect(verdict).to.include({ ok: true });
    expect(verdict.checked).to.be.greaterThan(5);

    const again = await service.owner('POST', '/api/admin/users', { email, password: PASSWORD, roles: [] });
    expect(again.status, 'the address is free').to.equal(201);
    expect(again.json<{ id: string }>().id).to.not.equal(id);
  });

  it('leave no trace of the address, in plain text or as a digest', async () => {
    const { email } = await person();
    const { tables, own } = { tables: await dump(), own: await digestsOf(email) };
    expect(
      own.some((digest) => tables.includes(digest)),
      'before: the claim',
    ).to.equal(true);
    expect((await erased({ email })).status).to.equal(200);
    const left = await dump();
    for (const digest of [email, ...own]) expect(left.includes(digest), digest).to.equal(false);
  });

  it('destroy the key of every sealed value in the events of the person: address, password hash, authenticator', async () => {
    const { id, email, session } = await person();
    const call = (path: string, body: unknown) =>
      service.admin('POST', `/api/admin/auth/${path}`, body, bearer(session.token));
    const { secret } = (await call('mfa/setup', { password: PASSWORD })).json<{ secret: string }>();
    expect((await call('mfa/enable', { code: codeOf(secret, new Date()) })).status).to.equal(200);
    const set = await service.owner('PUT', `/api/admin/users/${id}/password`, { password: `${PASSWORD}-2` });
    expect(set.status, set.text).to.equal(204);
    const signIn = await service.admin('POST', '/api/admin/auth/login', { email, password: `${PASSWORD}-2` });
    expect(signIn.json(), 'the second factor is asked for').to.have.property('challenge_token');

    const events = await service.database
      .db()
      .query<{ data: Readonly<Record<string, unknown>> }>('select data from eventstore.events where stream = $1', [
        `user-default.${id}`,
      ]);
    const sealed = events.flatMap(({ data }) =>
      Object.entries(data).flatMap(([field, value]) =>
        typeof value === 'object' && value !== null && 'k' in value ? [{ field, key: value.k }] : [],
      ),
    );
    expect(sealed).to.deep.equal(
      ['email', 'password_hash', 'secret', 'password_hash'].map((field) => ({ field, key: 'person' })),
    );
    expect((await erased({ user_id: id })).json<Erased>().erased).to.include({ person_keys: 1 });
  });

  it('erase a deleted user, and all accounts that an address ever had', async () => {
    const { id, email } = await person();
    await service.owner('DELETE', `/api/admin/users/${id}`);
    const second = (await service.owner('POST', '/api/admin/users', { email, password: PASSWORD, roles: [] })).json<{
      id: string;
    }>();
    const { subject, records } = (await exported({ email })).json<Exported>();
    expect(subject).to.deep.equal({ user_ids: [id, second.id], email });
    expect(records['users']?.map(({ deleted }) => deleted)).to.deep.equal([true, false]);
    expect((await exported({ user_id: id })).json<Exported>().subject).to.deep.equal({ user_ids: [id], email });
    expect((await erased({ email })).json<Erased>().erased).to.include({ users: 2, person_keys: 2 });
    expect((await exported({ email })).status).to.equal(404);
  });

  it('refuse to erase the last super admin', async () => {
    const refused = await erased({ email: OWNER.email });
    expect(statusAndError(refused)).to.deep.equal([409, 'the last super_admin cannot be removed']);
    expect((await service.owner('GET', '/api/admin/auth/me')).status).to.equal(200);
    expect((await exported({ email: OWNER.email })).status).to.equal(200);
    const { email } = await person(['super_admin']);
    expect((await erased({ email })).status).to.equal(200);
  });

  it('leave read models that a rebuild and a replay reproduce', async () => {
    await person();
    const { settings } = readSettings([environmentLayer({ DATABASE_URL: service.database.url() })]);
    const commands = await openCommands({ settings, logger: createLogger({ level: 'error', format: 'json' }) });
    const target = `replay_gdpr_${process.pid}`;
    await server(`create database ${target}`);
    try {
      const live = await commands.digest();
      expect(await commands.rebuild('all')).to.deep.equal(live);
      expect(await commands.replay({ to: serverUrl(target) })).to.deep.equal(live);
    } finally {
      await commands.close();
      await server(`drop database ${target} with (force)`);
    }
  });

  async function dump(): Promise<string> {
    const db = service.database.db();
    const tables = await db.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => db.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`)),
    );
    return rows
      .flat()
      .map(({ row }) => row)
      .join('\n');
  }

  /** The claims of the address: rows of its scope, which no other person in the test shares. */
  async function digestsOf(email: string): Promise<readonly string[]> {
    const id = (await exported({ email })).json<Exported>().records['users']?.[0]?.['id'];
    const rows = await service.database
      .db()
      .query<{ value: string }>(
        `select to_jsonb(value_hmac)#>>'{}' as value from operational.claims where scope = 'user/email' and owner = $1`,
        [`user-default.${String(id)}`],
      );
    expect(rows).to.have.length(1);
    return rows.map(({ value }) => value);
  }
});

describe('an erasure', function () {
  this.timeout(30_000);
  const replicas = useReplicas();

  it('reaches other processes, survives a restart, deletes development mails, and is completed after a crash', async () => {
    const directory = replicas.directory();
    const [here, there] = [await replicas.start({ directory }), await replicas.start()];
    const users = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const email = `${name}@people.palimpsest.test`;
        return {
          email,
          id: (await here.owner('POST', '/api/admin/users', { email, password: PASSWORD, roles: [] })).json<{
            id: string;
          }>().id,
        };
      }),
    );
    const [one, two] = users as [(typeof users)[0], (typeof users)[0]];
    await here.owner('POST', '/api/admin/auth/password-reset/request', { email: one.email });
    const outbox = join(directory, 'outbox');
    await eventually(async () => {
      expect(
        (await Promise.all((await readdir(outbox)).map((name) => readFile(join(outbox, name), 'utf8')))).join(),
      ).to.contain(one.email);
    });
    expect((await there.owner('GET', '/api/admin/users')).text).to.contain(one.email);
    const reply = await here.owner('POST', '/api/admin/gdpr/erase', { user_id: one.id });
    expect(reply.json<Erased>().erased).to.include({ outbox_mails: 1, password_resets: 1, person_keys: 1 });
    expect(
      (await Promise.all((await readdir(outbox)).map((name) => readFile(join(outbox, name), 'utf8')))).join(),
    ).to.not.contain(one.email);
    await eventually(async () => {
      const list = await there.owner('GET', '/api/admin/users');
      expect([list.status, list.text.includes(one.email)]).to.deep.equal([200, false]);
    });

    // The state after a crash directly after the append.
    const db = replicas.database.db();
    const [key] = await db.query<{ sealed: string }>(
      'select sealed_key::text as sealed from operational.person_keys where person_id = $1',
      [two.id],
    );
    expect((await here.owner('POST', '/api/admin/gdpr/erase', { user_id: two.id })).status).to.equal(200);
    await db.execute(
      'update operational.person_keys set sealed_key = $2::jsonb, destroyed_at = null where person_id = $1',
      [two.id, key?.sealed],
    );
    await Promise.all([here.stop(), there.stop()]);
    const again = await replicas.start();
    expect((await again.owner('POST', '/api/admin/gdpr/erase', { email: two.email })).json<Erased>().erased).to.include(
      { users: 1, memberships: 0, person_keys: 1 },
    );
    expect((await again.owner('GET', '/api/admin/audit/verify')).json()).to.include({ ok: true });
  });
});
