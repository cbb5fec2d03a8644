import { expect } from 'chai';
import { openPasswords } from '../../../../infrastructure/crypto/passwords.ts';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { useDatabase } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  startIdentity,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';

const NEW = 'Quite-Another-Pass-1';
const REQUEST = '/api/admin/auth/password-reset/request';
const CONFIRM = '/api/admin/auth/password-reset/confirm';
const INVALID_TOKEN = [400, 'invalid or expired password reset token'];

const me = async (admin: Call, { token }: { readonly token: string }) =>
  (await admin('GET', '/api/admin/auth/me', undefined, bearer(token))).status;

describe('change of the own password', () => {
  const { admin, content, owner } = useOwnedIdentity();
  const change = (session: Session, current_password: string, new_password = NEW) =>
    admin('POST', '/api/admin/auth/password', { current_password, new_password }, bearer(session.token));

  it('ends all other sessions of the user only, and keeps this session with its refresh token', async () => {
    const [person, bystander] = [await newUser(admin, owner), await newUser(admin, owner)];
    const [here, there, elsewhere] = [
      await signInAs(admin, person),
      await signInAs(admin, person),
      await signInAs(admin, bystander),
    ];
    expect((await change(here, person.password)).status).to.equal(204);
    expect([await me(admin, here), await me(admin, there), await me(admin, elsewhere)]).to.deep.equal([200, 401, 200]);
    expect((await content('GET', '/api/v1/content/post', undefined, bearer(there.token))).status).to.equal(401);
    expect((await admin('POST', '/api/admin/auth/refresh', { refresh_token: there.refresh_token })).status).to.equal(
      401,
    );
    const refreshed = await admin('POST', '/api/admin/auth/refresh', { refresh_token: here.refresh_token });
    expect(refreshed.status).to.equal(200);
    expect(await me(admin, refreshed.json<Session>())).to.equal(200);
    expect(
      statusAndError(await admin('POST', '/api/admin/auth/login', { email: person.email, password: person.password })),
    ).to.deep.equal([401, 'invalid credentials']);
    expect((await signInAs(admin, { email: person.email, password: NEW })).user.id).to.equal(person.id);
  });

  it('keeps this session until another change ends it', async () => {
    for (const end of ['roles', 'password', 'memberships', 'state']) {
      const person = await newUser(admin, owner);
      const session = await signInAs(admin, person);
      await change(session, person.password);
      await change(session, NEW, 'And-Yet-Another-Pass-1');
      expect(await me(admin, session)).to.equal(200);
      const bodies: Readonly<Record<string, object>> = {
        roles: { roles: ['admin'] },
        password: { password: NEW },
        memberships: { tenant_id: 'default', roles: ['reader'] },
        state: { disabled: true },
      };
      expect(
        (await admin('PUT', `/api/admin/users/${person.id}/${end}`, bodies[end], bearer(owner.token))).status,
      ).to.be.oneOf([200, 204]);
      expect(await me(admin, session), end).to.equal(401);
    }
  });

  it('checks the current password, then the policy for the new one', async () => {
    const person = await newUser(admin, owner);
    const session = await signInAs(admin, person);
    expect(statusAndError(await change(session, 'Wrong-Password-1', 'weak'))).to.deep.equal([403, 'invalid password']);
    const weak = await change(session, person.password, 'weak');
    expect(statusAndError(weak)).to.deep.equal([422, 'password does not meet the policy']);
    expect(weak.json<{ fields: { field: string }[] }>().fields.map(({ field }) => field)).to.include('new_password');
    expect(
      (await admin('POST', '/api/admin/auth/password', { new_password: NEW }, bearer(session.token))).status,
    ).to.equal(422);
    expect(await me(admin, session)).to.equal(200);
  });
});

describe('password reset', () => {
  const { admin, process, database, owner } = useOwnedIdentity({ expirySeconds: 86_400 });
  const nextWindow = () => database.db().execute('delete from operational.rate_counters');
  const tokenFor = async (email: string): Promise<string> => {
    await nextWindow();
    await admin('POST', REQUEST, { email });
    const mail = process().mails.at(-1);
    expect(mail?.to).to.equal(email);
    return /token=(\S+)/.exec(mail?.text ?? '')?.[1] ?? '';
  };

  it('sends a link on the console URL, answers the same for every address, and sends no mail to an account that cannot sign in', async () => {
    const [person, disabled] = [await newUser(admin, owner), await newUser(admin, owner)];
    await admin('PUT', `/api/admin/users/${disabled.id}/state`, { disabled: true }, bearer(owner.token));
    const before = process().mails.length;
    const answers = new Set<string>();
    for (const email of [person.email, disabled.email, 'nobody@palimpsest.test', 'no address at all', '']) {
      const reply = await admin('POST', REQUEST, { email });
      expect(reply.status).to.equal(200);
      expect(reply.json()).to.have.all.keys('message');
      answers.add(JSON.stringify([reply.text, Object.keys(reply.headers).toSorted()]));
    }
    expect(answers).to.have.length(1);
    const [mail, ...more] = process().mails.slice(before);
    expect([mail?.to, more.length]).to.deep.equal([person.email, 0]);
    expect(mail?.text).to.match(
      /^https:\/\/console\.palimpsest\.test\/auth\/password-reset\?token=[A-Za-z0-9_-]{43}$/m,
    );
  });

  it('stores the same rows for an address without an account', async () => {
    await nextWindow();
    const count = async () =>
      (await database.db().query<{ n: number }>('select count(*)::int as n from operational.password_resets'))[0]?.n ??
      0;
    const before = await count();
    await admin('POST', REQUEST, { email: (await newUser(admin, owner)).email });
    await admin('POST', REQUEST, { email: 'nobody@palimpsest.test' });
    expect(await count()).to.equal(before + 2);
  });

  it('sends one mail in five minutes, and does not reveal this limit', async () => {
    await nextWindow();
    const person = await newUser(admin, owner);
    const before = process().mails.length;
    const replies = [
      await admin('POST', REQUEST, { email: person.email }),
      await admin('POST', REQUEST, { email: ` ${person.email.toUpperCase()}` }),
    ];
    expect(replies[1]?.text).to.equal(replies[0]?.text);
    expect(process().mails.length).to.equal(before + 1);
    const [window] = await database
      .db()
      .query<{ seconds: number }>(
        'select max(extract(epoch from ends_at - clock_timestamp()))::float8 as seconds from operational.rate_counters',
      );
    expect(window?.seconds).to.be.within(290, 300);
    await database.db().execute('update operational.rate_counters set ends_at = clock_timestamp()');
    await admin('POST', REQUEST, { email: person.email });
    expect(process().mails.length).to.equal(before + 2);
  });

  it('refuses a client address after ten requests a minute, for known and unknown e-mail addresses alike', async () => {
    await nextWindow();
    const person = await newUser(admin, owner);
    for (let n = 0; n < 10; n += 1)
      expect((await admin('POST', REQUEST, { email: `nobody-${n}@palimpsest.test` })).status).to.equal(200);
    const [known, unknown] = [
      await admin('POST', REQUEST, { email: person.email }),
      await admin('POST', REQUEST, { email: 'nobody@palimpsest.test' }),
    ];
    expect(statusAndError(known)).to.deep.equal([429, 'rate limit exceeded']);
    expect(statusAndError(unknown)).to.deep.equal(statusAndError(known));
    expect([known.json()['limit'], known.json()['remaining']]).to.deep.equal([10, 0]);
    expect(Number(known.headers['retry-after'])).to.be.within(50, 60);
  });

  it('sets the password with the token of the link, once, and ends all sessions', async () => {
    const person = await newUser(admin, owner);
    const sessions = [await signInAs(admin, person), await signInAs(admin, person)];
    const token = await tokenFor(person.email);
    const done = await admin('POST', CONFIRM, { token, password: NEW });
    expect([done.status, done.text]).to.deep.equal([204, '']);
    for (const session of sessions) {
      expect(await me(admin, session)).to.equal(401);
      expect(
        (await admin('POST', '/api/admin/auth/refresh', { refresh_token: session.refresh_token })).status,
      ).to.equal(401);
    }
    expect((await signInAs(admin, { email: person.email, password: NEW })).user.id).to.equal(person.id);
    expect(statusAndError(await admin('POST', CONFIRM, { token, password: 'And-Yet-Another-Pass-1' }))).to.deep.equal(
      INVALID_TOKEN,
    );
  });

  it('accepts one of several concurrent tokens of a user', async () => {
    const person = await newUser(admin, owner);
    const tokens = [await tokenFor(person.email), await tokenFor(person.email)];
    const replies = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((which, n) =>
        admin('POST', CONFIRM, { token: tokens[which], password: `New-Password-Number-${n}` }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([204, 400, 400, 400, 400, 400]);
    await signInAs(admin, {
      email: person.email,
      password: `New-Password-Number-${replies.findIndex(({ status }) => status === 204)}`,
    });
  });

  it('accepts a token for 30 minutes', async () => {
    const [early, late] = [await newUser(admin, owner), await newUser(admin, owner)];
    const token = await tokenFor(early.email);
    process().advance(30 * 60_000 - 5_000);
    expect((await admin('POST', CONFIRM, { token, password: NEW })).status).to.equal(204);
    const expired = await tokenFor(late.email);
    process().advance(30 * 60_000);
    expect(statusAndError(await admin('POST', CONFIRM, { token: expired, password: NEW }))).to.deep.equal(
      INVALID_TOKEN,
    );
  });

  it('refuses unknown tokens and accounts that cannot sign in, and keeps the token after a weak password', async () => {
    const person = await newUser(admin, owner);
    expect(
      statusAndError(await admin('POST', CONFIRM, { token: 'nobody made this one', password: NEW })),
    ).to.deep.equal(INVALID_TOKEN);
    expect(
      statusAndError(await admin('POST', CONFIRM, { token: 'nobody made this one', password: 'weak' })),
    ).to.deep.equal(INVALID_TOKEN);
    const token = await tokenFor(person.email);
    const weak = await admin('POST', CONFIRM, { token, password: 'weak' });
    expect(statusAndError(weak)).to.deep.equal([422, 'password does not meet the policy']);
    expect(weak.json<{ fields: { field: string }[] }>().fields[0]?.field).to.equal('password');
    await admin('PUT', `/api/admin/users/${person.id}/state`, { disabled: true }, bearer(owner.token));
    expect(statusAndError(await admin('POST', CONFIRM, { token, password: NEW }))).to.deep.equal(INVALID_TOKEN);
    await admin('PUT', `/api/admin/users/${person.id}/state`, { disabled: false }, bearer(owner.token));
    expect((await admin('POST', CONFIRM, { token, password: NEW })).status).to.equal(204);
  });

  it('refuses a token after another change of the password', async () => {
    const person = await newUser(admin, owner);
    const token = await tokenFor(person.email);
    await admin('PUT', `/api/admin/users/${person.id}/password`, { password: NEW }, bearer(owner.token));
    expect(statusAndError(await admin('POST', CONFIRM, { token, password: 'And-Yet-Another-Pass-1' }))).to.deep.equal(
      INVALID_TOKEN,
    );
  });

  it('stores its tokens as digests only', async () => {
    const token = await tokenFor((await newUser(admin, owner)).email);
    const rows = await database
      .db()
      .query<{ row: string }>('select to_jsonb(r)::text as row from operational.password_resets r');
    expect(rows).to.not.have.length(0);
    for (const { row } of rows) expect(row).to.not.contain(token).and.to.not.contain('palimpsest.test');
  });

  it('records who changed a password, and how', async () => {
    const person = await newUser(admin, owner);
    await admin('POST', CONFIRM, { token: await tokenFor(person.email), password: NEW });
    await admin('PUT', `/api/admin/users/${person.id}/password`, { password: person.password }, bearer(owner.token));
    await admin(
      'POST',
      '/api/admin/auth/password',
      { current_password: person.password, new_password: NEW },
      bearer((await signInAs(admin, person)).token),
    );
    const events = await database
      .db()
      .query<{ reason: string; actor: string }>(
        `select data::jsonb ->> 'reason' as reason, metadata::jsonb -> 'actor' ->> 'id' as actor from eventstore.events where stream = $1 and type = 'UserPasswordChanged' order by revision`,
        [`user-default.${person.id}`],
      );
    expect(events).to.deep.equal([
      { reason: 'reset', actor: person.id },
      { reason: 'set', actor: owner.user.id },
      { reason: 'changed', actor: person.id },
    ]);
  });
});

describe('a new password on two processes', () => {
  const { processes } = useIdentityPair({ signals: openInProcessSignals() });

  it('ends cached access tokens in every process: all of them when a super admin sets it, all others when its owner changes it', async () => {
    const [here, there] = processes();
    const owner = await setUpOwner(here.admin);
    const person = await newUser(here.admin, owner);
    const [kept, other] = [await signInAs(here.admin, person), await signInAs(here.admin, person)];
    for (const session of [kept, other])
      await eventually(async () => expect(await me(there.admin, session)).to.equal(200));
    expect(
      (
        await here.admin(
          'POST',
          '/api/admin/auth/password',
          { current_password: person.password, new_password: NEW },
          bearer(kept.token),
        )
      ).status,
    ).to.equal(204);
    await eventually(async () => expect(await me(there.admin, other)).to.equal(401));
    expect(await me(there.admin, kept)).to.equal(200);
    expect(
      (
        await here.admin(
          'PUT',
          `/api/admin/users/${person.id}/password`,
          { password: person.password },
          bearer(owner.token),
        )
      ).status,
    ).to.equal(204);
    await eventually(async () => expect(await me(there.admin, kept)).to.equal(401));
  });
});

describe('password hashes of another algorithm', () => {
  const database = useDatabase();

  it('are verified, and replaced at the next sign-in without ending sessions', async () => {
    const before = await startIdentity({ url: database.url() });
    const owner = await setUpOwner(before.admin);
    const person = await newUser(before.admin, owner);
    const session = await signInAs(before.admin, person);
    await before.stop();
    const passwords = openPasswords({ algorithm: 'argon2id', memoryKiB: 1024, threads: 1 });
    const now = await startIdentity({ url: database.url(), replaced: { passwords } });
    try {
      await signInAs(now.admin, person);
      expect(await me(now.admin, session)).to.equal(200);
      await signInAs(now.admin, person);
      const events = await database
        .db()
        .query<{ n: number }>(
          `select count(*)::int as n from eventstore.events where stream = $1 and type = 'UserPasswordRehashed'`,
          [`user-default.${person.id}`],
        );
      expect(events[0]?.n, 'once').to.equal(1);
      const stored = await now.dependencies.reads.userById(person.id);
      const purpose = `user/${person.id}/password`;
      expect(
        stored && (await now.dependencies.vault.openPersonalSecret(person.id, purpose, stored.passwordHash)),
      ).to.match(/^\$argon2id\$v=19\$m=1024,p=1,t=1\$/);
      const wrong = await now.admin('POST', '/api/admin/auth/login', {
        email: person.email,
        password: 'Wrong-Password-1',
      });
      expect(statusAndError(wrong)).to.deep.equal([401, 'invalid credentials']);
    } finally {
      await now.stop();
      await passwords.close();
    }
  });
});
