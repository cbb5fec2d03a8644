import { expect } from 'chai';
import { USER_CODE_LETTERS } from '../../../../domain/identity/device-code.ts';
import { statusAndError } from '../../../support/http.ts';
import {
  type IdentityProcess,
  bearer,
  newUser,
  setUpOwner,
  signInAs,
  useIdentity,
  useIdentityPair,
  useOwnedIdentity,
} from '../../../support/identity-process.ts';
import type { Session } from '../../../support/owner.ts';
import { withSecondFactor } from './second-factor.ts';

type Start = {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
};

const DEVICE = '/api/admin/auth/device';
const PASSWORD = 'Another-Good-Pass-1';

/** The tool and the admin on one process. Advances the clock before each call, so that no rate limit is reached. */
function flowOn(process: () => IdentityProcess) {
  const call = (...[method, path, body, headers]: Parameters<IdentityProcess['admin']>) => {
    process().advance(1_000);
    return process().admin(method, path, body, headers);
  };
  return {
    start: async (): Promise<Start> => {
      const reply = await call('POST', DEVICE);
      if (reply.status !== 200) throw new Error(reply.text);
      return reply.json<Start>();
    },
    poll: (deviceCode: string) => call('POST', `${DEVICE}/token`, { device_code: deviceCode }),
    show: (userCode: string, session: Session) =>
      call('GET', `${DEVICE}/${encodeURIComponent(userCode)}`, undefined, bearer(session.token)),
    approve: (userCode: string, session: Session, body: object = { password: PASSWORD }) =>
      call('POST', `${DEVICE}/${userCode}/approve`, body, bearer(session.token)),
    deny: (userCode: string, session: Session) =>
      call('POST', `${DEVICE}/${userCode}/deny`, undefined, bearer(session.token)),
  };
}

describe('device sign-in', function () {
  this.timeout(30_000);
  const { process, admin, content, database, owner } = useOwnedIdentity({ expirySeconds: 86_400 });
  const { start, poll, show, approve, deny } = flowOn(process);
  afterEach(() => database.db().execute('truncate operational.rate_counters'));
  const someAdmin = async () => {
    const person = await newUser(admin, owner, ['admin']);
    return { ...person, session: await signInAs(admin, person) };
  };
  const codeOf = (reply: { json<T>(): T }) => reply.json<{ code: string }>().code;

  it('starts with two codes, the URL of the console, a lifetime of ten minutes and an interval of five seconds', async () => {
    const begun = await start();
    expect(begun).to.have.all.keys(
      'device_code',
      'user_code',
      'verification_uri',
      'verification_uri_complete',
      'expires_in',
      'interval',
    );
    expect(begun).to.include({
      verification_uri: 'https://console.palimpsest.test/admin/device',
      expires_in: 600,
      interval: 5,
    });
    expect(begun.verification_uri_complete).to.equal(
      `https://console.palimpsest.test/admin/device?user_code=${begun.user_code}`,
    );
    expect(begun.device_code, '256 bits').to.match(/^[\w-]{43}$/);
    expect(begun.user_code).to.match(new RegExp(`^[${USER_CODE_LETTERS}]{4}-[${USER_CODE_LETTERS}]{4}$`));
    expect(USER_CODE_LETTERS, 'nothing that looks like another, no vowels').not.to.match(/[AEIOUY0-9]/);
  });

  it('stores both codes as digests only', async () => {
    const { device_code: device, user_code: user } = await start();
    const rows = await database
      .db()
      .query<{ row: string }>('select to_jsonb(d)::text as row from operational.device_sign_ins d');
    const text = rows.map(({ row }) => row).join('\n');
    for (const clear of [device, user, user.replace('-', '')]) expect(text).not.to.contain(clear);
  });

  it('is pending until an admin approves it; then the device gets a session of the admin, once', async () => {
    const approver = await someAdmin();
    const { device_code: device, user_code: code } = await start();
    const pending = await poll(device);
    expect([pending.status, codeOf(pending)]).to.deep.equal([400, 'authorization_pending']);
    const shown = await show(code, approver.session);
    expect(shown.json())
      .to.include({ user_code: code, status: 'pending' })
      .and.to.have.all.keys('user_code', 'status', 'created_at', 'expires_at');
    const approved = await approve(code, approver.session);
    expect(approved.status, approved.text).to.equal(200);
    expect(approved.json()).to.include({ user_code: code, status: 'approved' });
    const signedIn = await poll(device);
    expect(signedIn.status, signedIn.text).to.equal(200);
    const session = signedIn.json<Session>();
    expect(session).to.have.all.keys('token', 'csrf_token', 'refresh_token', 'expires_in', 'user');
    expect(session.user).to.deep.equal({ id: approver.id, email: approver.email, roles: ['admin'] });
    expect(signedIn.headers).not.to.have.property('set-cookie');
    expect((await admin('GET', '/api/admin/auth/me', undefined, bearer(session.token))).json()).to.include({
      id: approver.id,
    });
    const again = await poll(device);
    expect([again.status, codeOf(again)]).to.deep.equal([400, 'expired_token']);
  });

  it('accepts the user code in any case, with or without dashes and spaces', async () => {
    const approver = await someAdmin();
    const { user_code: code } = await start();
    for (const typed of [code.toLowerCase(), code.replace('-', ''), ` ${code.replace('-', ' ')} `])
      expect((await show(typed, approver.session)).json(), typed).to.include({ user_code: code });
  });

  it('opens a session in the tenant of the admin who approved it', async () => {
    await admin('POST', '/api/admin/tenants', { slug: 'acme' }, bearer(owner.token));
    const person = { email: 'device-admin@palimpsest.test', password: PASSWORD };
    await admin('POST', '/api/admin/users', { ...person, roles: ['admin'], tenant_id: 'acme' }, bearer(owner.token));
    const { device_code: device, user_code: code } = await start();
    await approve(code, await signInAs(admin, person));
    const { token } = (await poll(device)).json<Session>();
    expect((await content('GET', '/api/v1/content/post', undefined, bearer(token))).json()).to.include({
      tenant: 'acme',
    });
  });

  it('answers slow_down to a device that polls too fast, but always answers a final result', async () => {
    const approver = await someAdmin();
    const { device_code: device, user_code: code } = await start();
    await poll(device);
    const fast = await poll(device);
    expect([fast.status, codeOf(fast)]).to.deep.equal([400, 'slow_down']);
    process().advance(5_000);
    expect(codeOf(await poll(device))).to.equal('authorization_pending');
    await approve(code, approver.session);
    expect((await poll(device)).status).to.equal(200);
  });

  it('is refused at every poll after it was denied', async () => {
    const approver = await someAdmin();
    const { device_code: device, user_code: code } = await start();
    expect((await deny(code, approver.session)).json()).to.include({ status: 'denied' });
    for (let n = 0; n < 2; n += 1) {
      const reply = await poll(device);
      expect([reply.status, codeOf(reply)]).to.deep.equal([403, 'access_denied']);
    }
    for (const late of [await approve(code, approver.session), await deny(code, approver.session)])
      expect(statusAndError(late)).to.deep.equal([409, 'the device sign-in is already approved or denied']);
  });

  it('expires after ten minutes, approved or not', async () => {
    const approver = await someAdmin();
    const [waiting, approved] = [await start(), await start()];
    await approve(approved.user_code, approver.session);
    process().advance(600_000);
    for (const { device_code: device } of [waiting, approved]) {
      const reply = await poll(device);
      expect([reply.status, codeOf(reply)]).to.deep.equal([400, 'expired_token']);
    }
    expect(statusAndError(await show(waiting.user_code, approver.session))).to.deep.equal([
      404,
      'device sign-in not found',
    ]);
    expect(statusAndError(await approve(waiting.user_code, approver.session))).to.deep.equal([
      404,
      'device sign-in not found',
    ]);
  });

  it('answers 404 for unknown codes', async () => {
    expect(codeOf(await poll('x'))).to.equal('expired_token');
    for (const code of ['BCDF-BCDF', 'x', 'BCDF-BCDFG', 'AEIO-UAEI'])
      expect(statusAndError(await show(code, owner)), code).to.deep.equal([404, 'device sign-in not found']);
    expect(
      statusAndError(
        await process().admin('POST', `${DEVICE}/BCDF-BCDF/approve`, 'no JSON', {
          ...bearer(owner.token),
          'content-type': 'application/json',
        }),
      ),
      'before the body',
    ).to.deep.equal([404, 'device sign-in not found']);
  });

  it('is approved only with the password or a code of the second factor', async () => {
    const approver = await withSecondFactor(process(), owner, ['admin']);
    const { device_code: device, user_code: code } = await start();
    expect(statusAndError(await approve(code, approver.session, {}))).to.deep.equal([
      403,
      'password or mfa_code is required',
    ]);
    expect(statusAndError(await approve(code, approver.session, { password: 'Wrong-Pass-word-1' }))).to.deep.equal([
      403,
      'invalid password',
    ]);
    expect(statusAndError(await approve(code, approver.session, { mfa_code: '000000' }))).to.deep.equal([
      401,
      'invalid code',
    ]);
    expect(codeOf(await poll(device))).to.equal('authorization_pending');
    expect((await approve(code, approver.session, { mfa_code: approver.code() })).status).to.equal(200);
    expect((await poll(device)).json<Session>().user.id).to.equal(approver.id);
  });

  it('counts wrong passwords at approval towards the lockout of the account', async () => {
    const approver = await someAdmin();
    const { user_code: code } = await start();
    for (let n = 0; n < 5; n += 1)
      expect((await approve(code, approver.session, { password: 'Wrong-Pass-word-1' })).status).to.equal(403);
    expect((await approve(code, approver.session)).status).to.equal(403);
    expect(
      (await admin('POST', '/api/admin/auth/login', { email: approver.email, password: approver.password })).status,
    ).to.equal(401);
  });

  it('can be approved only by an admin in a session', async () => {
    const editor = await newUser(admin, owner, ['editor']);
    const session = await signInAs(admin, editor);
    const { user_code: code } = await start();
    for (const reply of [await show(code, session), await approve(code, session), await deny(code, session)])
      expect(statusAndError(reply)).to.deep.equal([403, 'insufficient permissions']);
    expect((await process().admin('GET', `${DEVICE}/${code}`)).status).to.equal(401);
  });

  it('refuses the device when the admin loses the role between approval and poll', async () => {
    const approver = await someAdmin();
    const { device_code: device, user_code: code } = await start();
    await approve(code, approver.session);
    await admin('PUT', `/api/admin/users/${approver.id}/roles`, { roles: ['editor'] }, bearer(owner.token));
    expect((await poll(device)).status).to.equal(403);
  });

  it('records the kind of the sign-in as an event', async () => {
    const approver = await someAdmin();
    const { device_code: device, user_code: code } = await start();
    await approve(code, approver.session);
    await poll(device);
    const methods: unknown[] = [];
    for await (const event of process().eventStore.readStream(`user-default.${approver.id}`))
      if (event.type === 'UserSignedIn') methods.push(event.data['method']);
    expect(methods).to.deep.equal(['password', 'device']);
  });

  it('limits the attempts to guess a code', async () => {
    const approver = await someAdmin();
    for (let n = 0; n < 30; n += 1) expect((await show('BCDF-BCDF', approver.session)).status).to.equal(404);
    const over = await show('BCDF-BCDF', approver.session);
    expect(statusAndError(over)).to.deep.equal([429, 'rate limit exceeded']);
    expect(over.json()).to.include({ remaining: 0, limit: 30 });
  });

  it('allows 60 starts per client address in 15 minutes, ten at once', async () => {
    process().advance(60_000);
    const burst = await Promise.all(Array.from({ length: 12 }, () => admin('POST', DEVICE)));
    expect(burst.filter(({ status }) => status === 429)).to.have.length.within(1, 2);
    await database.db().execute('truncate operational.rate_counters');
    for (let n = 0; n < 60; n += 1) await start();
    process().advance(10_000);
    expect(statusAndError(await admin('POST', DEVICE))).to.deep.equal([429, 'rate limit exceeded']);
  });

  it('allows twenty polls per client address at once', async () => {
    process().advance(60_000);
    const polls = await Promise.all(
      Array.from({ length: 30 }, () => admin('POST', `${DEVICE}/token`, { device_code: 'x' })),
    );
    expect(polls.filter(({ status }) => status === 429)).to.have.length.within(1, 10);
  });

  it('is deleted after it has expired', async () => {
    const { deviceSignIns } = process().dependencies;
    await start();
    process().advance(3_600_000);
    await deviceSignIns.sweep(process().now());
    expect(await database.db().query('select 1 from operational.device_sign_ins')).to.deep.equal([]);
  });
});

describe('device sign-in without a console URL', () => {
  const { admin } = useIdentity({ replaced: { consoleUrl: undefined } });

  it('answers 503', async () => {
    expect(statusAndError(await admin('POST', DEVICE))).to.deep.equal([
      503,
      'Device sign-in is not configured on this install.',
    ]);
  });
});

describe('device sign-in on two processes', function () {
  this.timeout(30_000);
  const { processes } = useIdentityPair();

  it('opens one session for concurrent polls', async () => {
    const [here, there] = processes();
    const owner = await setUpOwner(here.admin);
    const person = await newUser(here.admin, owner, ['admin']);
    const { start, approve } = flowOn(() => here);
    const { device_code: device, user_code: code } = await start();
    await approve(code, await signInAs(here.admin, person));
    const polls = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? here : there).admin('POST', `${DEVICE}/token`, { device_code: device }),
      ),
    );
    expect(polls.filter(({ status }) => status === 200)).to.have.length(1);
    expect(polls.filter(({ status }) => status === 400)).to.have.length(9);
  });
});
