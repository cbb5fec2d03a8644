import { expect } from 'chai';
import { v7 } from 'uuid';
import { withinLockout } from '../../../../application/identity/account-lockout.ts';
import { openInProcessSignals } from '../../../../infrastructure/signals/in-process.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, type Reply, statusAndError } from '../../../support/http.ts';
import {
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';

const LOGIN = '/api/admin/auth/login';
const TOKEN = '/api/v1/auth/token';
const WRONG = 'Wrong-Password-1';
const INVALID = [401, 'invalid credentials'];

describe('account lockout', () => {
  const { admin, content, database, process, owner } = useOwnedIdentity();

  const guess = (email: string, times: number, call: Call = admin, path = LOGIN): Promise<readonly Reply[]> =>
    Promise.all(Array.from({ length: times }, () => call('POST', path, { email, password: WRONG })));

  it('refuses the right password after five wrong ones on either API, with the response to a wrong one', async () => {
    const person = await newUser(admin, owner);
    const wrong = [...(await guess(person.email, 3)), ...(await guess(person.email, 2, content, TOKEN))];
    for (const [call, path] of [
      [admin, LOGIN],
      [content, TOKEN],
    ] as const) {
      const right = await call('POST', path, { email: person.email, password: person.password });
      expect([right.status, right.text]).to.deep.equal([401, wrong[0]?.text]);
      expect(Object.keys(right.headers).toSorted()).to.deep.equal(Object.keys(wrong[0]?.headers ?? {}).toSorted());
    }
    expect((await signInAs(admin, await newUser(admin, owner))).user.roles, 'others are none the worse').to.deep.equal([
      'editor',
    ]);
  });

  it('lasts until the end of the window that began with the first failure', async () => {
    const person = await newUser(admin, owner);
    await database.db().execute('delete from operational.rate_counters');
    await guess(person.email, 5);
    const [window] = await database
      .db()
      .query<{ seconds: number }>(
        'select extract(epoch from ends_at - clock_timestamp())::float8 as seconds from operational.rate_counters where taken = 5',
      );
    expect(window?.seconds).to.be.within(880, 900);
    const credentials = { email: person.email, password: person.password };
    expect(statusAndError(await admin('POST', LOGIN, credentials))).to.deep.equal(INVALID);
    await database.db().execute('update operational.rate_counters set ends_at = clock_timestamp()');
    expect((await admin('POST', LOGIN, credentials)).status).to.equal(200);
  });

  it('counts failures only, also with successful sign-ins in between', async () => {
    const person = await newUser(admin, owner);
    await guess(person.email, 4);
    for (let n = 0; n < 6; n += 1) await signInAs(admin, person);
    const together = await Promise.all(
      Array.from({ length: 12 }, () => admin('POST', LOGIN, { email: person.email, password: person.password })),
    );
    expect(new Set(together.map(({ status }) => status)), 'also where they come together').to.deep.equal(
      new Set([200]),
    );
    await guess(person.email, 1);
    expect(
      statusAndError(await admin('POST', LOGIN, { email: person.email, password: person.password })),
    ).to.deep.equal(INVALID);
  });

  it('checks five of many concurrent guesses', async () => {
    const { id } = await newUser(admin, owner);
    const context = {
      tenant: 'default',
      actor: { kind: 'anonymous', id: 'anonymous' },
      correlationId: 'c',
      causationId: 'c',
      now: () => process().now(),
      newId: v7,
    } as const;
    const guesses = Array.from({ length: 20 }, (_, n) =>
      withinLockout(
        { account: { userId: id }, verify: () => Promise.resolve(n >= 5) },
        context,
        process().dependencies,
      ),
    );
    expect(new Set(await Promise.all(guesses))).to.deep.equal(new Set([false]));
  });

  it('counts the right password of a disabled account, or for a tenant without a membership, as wrong', async () => {
    const person = await newUser(admin, owner);
    for (let n = 0; n < 5; n += 1)
      expect(
        statusAndError(await admin('POST', LOGIN, { email: person.email, password: person.password, tenant: 'acme' })),
      ).to.deep.equal(INVALID);
    expect(
      statusAndError(await admin('POST', LOGIN, { email: person.email, password: person.password })),
    ).to.deep.equal(INVALID);
  });

  it('treats an address without an account like one with an account', async () => {
    const email = 'nobody-at-all@palimpsest.test';
    const [first, ...more] = [...(await guess(email, 5)), ...(await guess(email.toUpperCase(), 3))];
    for (const { status, text } of more) expect([status, text]).to.deep.equal([first?.status, first?.text]);
    const blocked = await database
      .db()
      .query<{ n: number }>('select count(*)::int as n from operational.rate_counters where taken = 6');
    expect(blocked[0]?.n, 'counted in the same way').to.be.above(0);
  });

  it('ends when a super admin or a reset sets a new password', async () => {
    const person = await newUser(admin, owner);
    await guess(person.email, 5);
    const [set, reset] = ['Set-By-Somebody-1', 'Reset-By-Oneself-1'];
    await admin('PUT', `/api/admin/users/${person.id}/password`, { password: set }, bearer(owner.token));
    await signInAs(admin, { email: person.email, password: set });
    await guess(person.email, 5);
    await admin('POST', '/api/admin/auth/password-reset/request', { email: person.email });
    const token = /token=(\S+)/.exec(process().mails.at(-1)?.text ?? '')?.[1];
    expect((await admin('POST', '/api/admin/auth/password-reset/confirm', { token, password: reset })).status).to.equal(
      204,
    );
    await signInAs(admin, { email: person.email, password: reset });
  });

  it('counts wrong passwords of a signed-in user, and then refuses the right one', async () => {
    const person = await newUser(admin, owner);
    const { token } = await signInAs(admin, person);
    const change = (current_password: string) =>
      admin(
        'POST',
        '/api/admin/auth/password',
        { current_password, new_password: 'Quite-Another-Pass-1' },
        bearer(token),
      );
    for (let n = 0; n < 2; n += 1) expect(statusAndError(await change(WRONG))).to.deep.equal([403, 'invalid password']);
    for (let n = 0; n < 3; n += 1)
      expect(
        statusAndError(await admin('POST', '/api/admin/auth/mfa/setup', { password: WRONG }, bearer(token))),
      ).to.deep.equal([403, 'invalid password']);
    expect(statusAndError(await change(person.password))).to.deep.equal([403, 'invalid password']);
    expect(
      statusAndError(await admin('POST', LOGIN, { email: person.email, password: person.password })),
    ).to.deep.equal(INVALID);
  });

  it('is recorded in the history of the account once a window, with its actor', async () => {
    const person = await newUser(admin, owner);
    await guess(person.email, 9);
    await eventually(async () => {
      const events = await database
        .db()
        .query<{ actor: string }>(
          `select metadata::jsonb -> 'actor' ->> 'kind' as actor from eventstore.events where stream = $1 and type = 'UserSignInBlocked'`,
          [`user-default.${person.id}`],
        );
      expect(events).to.deep.equal([{ actor: 'anonymous' }]);
    });
  });
});

describe('account lockout on two processes', () => {
  const { processes } = useIdentityPair({ signals: openInProcessSignals() });

  it('counts the failures of both processes together', async () => {
    const [here, there] = processes();
    const owner = await setUpOwner(here.admin);
    const person = await newUser(here.admin, owner);
    const wrong = { email: person.email, password: WRONG };
    const replies = await Promise.all([here, there, here, there, here].map(({ admin }) => admin('POST', LOGIN, wrong)));
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([401]));
    for (const { admin } of processes())
      expect(
        statusAndError(await admin('POST', LOGIN, { email: person.email, password: person.password })),
      ).to.deep.equal(INVALID);
  });
});
