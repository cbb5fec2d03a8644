import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../support/authenticator.ts';
import { type Call, caller } from '../support/http.ts';
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts';
import { OWNER, SETUP_TOKEN, type Session, setUpOwner } from '../support/owner.ts';
import type { ServiceProcess } from '../support/process.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const USER = { email: 'Zoë.Privat+tag@people.palimpsest.test'.normalize(), password: 'Private-Horse-9-battery' };
const CHANGED = 'Another-Private-Horse-3';
const STRANGER = { email: 'stranger@nowhere.palimpsest.test', password: 'Mistyped-Private-Pass-5' };
const GUARDED = {
  email: 'guarded.person@second.palimpsest.test',
  password: 'Guarded-Horse-2-battery',
  reset: 'Reset-Guarded-Horse-4',
  changed: 'Changed-Guarded-Horse-6',
  guess: 'Guessed-Guarded-Horse-8',
};
const ERASED = { email: 'erased.person@fourth.palimpsest.test', password: 'Erased-Horse-1-battery' };
/** The subject of the external issuer's token. */
const OUTSIDER = 'ada@issuer.test';
const NEWCOMER = 'new.comer@third.palimpsest.test';
const CONSOLE_KEY = 'the-key-shared-with-the-console-in-this-scenario';
export const PASSWORDLESS = {
  MAGIC_LINK_AUTO_CREATE: 'true',
  MAGIC_LINK_AUTO_CREATE_ROLES: 'editor',
  ADMIN_CONSOLE_KEY: CONSOLE_KEY,
};
const CLIENT_ADDRESS = '203.0.113.77';
const OTHER_ADDRESSES = ['203.0.113.78', '203.0.113.79'] as const;
const ERASED_ADDRESS = '203.0.113.80';
const WEBHOOK = {
  secret: 'webhook-secret-never-in-clear',
  rotated: 'webhook-secret-rotated-in-turn',
  header: 'the-customers-header-credential',
  url: 'in-the-url-of-the-webhook',
};

/** Settings of a service that trusts the issuer. */
export function trusting({ url }: OidcIssuer): Readonly<Record<string, string>> {
  return {
    TRUSTED_ISSUERS: url,
    TRUSTED_ISSUER_POLICIES: JSON.stringify([
      { issuer: url, audience: 'content', tenant: 'default', roles: ['editor'] },
    ]),
  };
}

/** Starts an issuer with one key for the enclosing `describe`. */
export function useIssuer(): () => OidcIssuer {
  let issuer: OidcIssuer | undefined;
  before(async () => {
    issuer = await startOidcIssuer();
    await issuer.addKey('one');
  });
  after(() => issuer?.close());
  return () => {
    if (!issuer) throw new Error('the issuer is there inside tests only');
    return issuer;
  };
}

/**
 * Uses many features of a service.
 * @returns secrets that must not be stored in plain text, and a word that must be found, which proves that the search
 * works
 */
export async function scenario(
  { adminUrl, contentUrl }: ServiceProcess,
  directory: string,
  issuer: OidcIssuer,
): Promise<{ readonly secrets: readonly string[]; readonly readable: string }> {
  const from = { 'x-forwarded-for': CLIENT_ADDRESS };
  const admin = caller(() => adminUrl, from);
  const receiver = await startReceiver();
  const owner = await setUpOwner(admin);
  const bearer = { authorization: `Bearer ${owner.token}` };
  const ok = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const reply = await admin(method, path, body, { ...bearer, ...headers });
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.within(200, 299);
    return reply;
  };
  await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
  await admin('POST', '/api/admin/setup', { ...OWNER }, { 'x-setup-token': `${SETUP_TOKEN}-wrong` });
  const { id: userId } = (await ok('POST', '/api/admin/users', { ...USER, roles: ['editor'] })).json<{ id: string }>();
  await admin('POST', '/api/admin/users', { ...USER, roles: ['editor'] }, bearer);
  const login = (await admin('POST', '/api/admin/auth/login', USER)).json<Session>();
  const refreshed = (
    await admin('POST', '/api/admin/auth/refresh', { refresh_token: login.refresh_token })
  ).json<Session>();
  await admin('POST', '/api/admin/auth/refresh', { refresh_token: login.refresh_token });
  await admin('POST', '/api/admin/auth/login', STRANGER);
  await admin('POST', '/api/admin/auth/login', { ...USER, password: STRANGER.password });
  await admin('POST', '/api/admin/auth/login', { ...USER, password: 7 });
  await ok('PUT', `/api/admin/users/${userId}/password`, { password: CHANGED });
  const content = caller(() => contentUrl, from);
  const { token } = (await content('POST', '/api/v1/auth/token', { email: USER.email, password: CHANGED })).json<{
    token: string;
  }>();
  await content('GET', '/api/v1/schemas', undefined, { authorization: `Bearer ${token}` });

  const guarded = await guardedPerson(admin, ok, directory);
  const passwordless = await withoutPassword(admin, ok, directory);

  const url = `${receiver.url}/hook?token=${WEBHOOK.url}`;
  await ok('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'title', field_type: 'text' }] });
  const hook = (
    await ok(
      'POST',
      '/api/admin/webhooks',
      {
        name: 'hook',
        url,
        events: ['after_create'],
        schemas: ['note'],
        secret: WEBHOOK.secret,
        headers: { 'X-Api-Token': WEBHOOK.header },
      },
      { 'idempotency-key': 'hook' },
    )
  ).json<{ id: string }>();
  const key = (
    await ok(
      'POST',
      '/api/admin/api-keys',
      { name: 'site', roles: ['editor'], scopes: ['*:*'] },
      { 'idempotency-key': 'key' },
    )
  ).json<{ id: string; raw_key: string }>();
  const write = await content(
    'POST',
    '/api/v1/content/note',
    { data: { title: 'a readable title' } },
    { 'x-api-key': key.raw_key },
  );
  expect(write.status).to.equal(201);
  await content('GET', `/api/v1/content/note?filters[title]=${encodeURIComponent('a readable title')}`, undefined, {
    'x-api-key': `${key.raw_key}x`,
  });
  const outside = await issuer.token('one');
  expect(
    (
      await content(
        'POST',
        '/api/v1/content/note',
        { data: { title: 'from outside' } },
        { authorization: `Bearer ${outside}` },
      )
    ).status,
  ).to.equal(201);
  const erased = await erasedPerson(ok, content, directory);
  await receiver.waitFor(1, 30_000);
  await ok('POST', `/api/admin/webhooks/${hook.id}/rotate-secret`, { new_secret: WEBHOOK.rotated });
  await ok('GET', `/api/admin/api-keys/${key.id}/audit`);
  await ok('GET', '/api/admin/audit');
  await ok('POST', `/api/admin/api-keys/${key.id}/revoke`);
  await ok('DELETE', `/api/admin/users/${userId}`);
  await ok('POST', '/api/admin/auth/logout', { refresh_token: owner.refresh_token });
  await receiver.close();

  const sessions = [owner, login, refreshed];
  return {
    readable: 'a readable title',
    secrets: [
      OWNER.email,
      OWNER.password,
      USER.email,
      USER.email.toLowerCase(),
      USER.email.split('@')[0] ?? '',
      'people.palimpsest.test',
      USER.password,
      CHANGED,
      STRANGER.email,
      STRANGER.password,
      CLIENT_ADDRESS,
      ...OTHER_ADDRESSES,
      ...Object.values(GUARDED),
      ...guarded,
      ...Object.values(ERASED),
      ERASED_ADDRESS,
      ...erased,
      OUTSIDER,
      outside,
      outside.split('.')[2] ?? '',
      ...passwordless,
      SETUP_TOKEN,
      ...Object.values(WEBHOOK),
      key.raw_key,
      key.raw_key.slice('svc_'.length + 8),
      ...sessions.flatMap((session) => [
        session.token,
        session.token.split('.')[2] ?? '',
        session.csrf_token,
        session.refresh_token,
      ]),
      token,
    ],
  };
}

type Ok = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ json<T>(): T }>;

/**
 * A user enables a second factor, is locked out by wrong passwords, and resets the password.
 * @returns secrets that must not be stored in plain text
 */
async function guardedPerson(admin: Call, ok: Ok, directory: string): Promise<readonly string[]> {
  const [own, strangers] = OTHER_ADDRESSES.map((address) => ({ 'x-forwarded-for': address }));
  const { email, password, reset, changed, guess } = GUARDED;
  await ok('POST', '/api/admin/users', { email, password, roles: ['editor'] });
  const session = (await ok('POST', '/api/admin/auth/login', { email, password }, own)).json<Session>();
  const bearer = { ...own, authorization: `Bearer ${session.token}` };
  const { secret } = (await ok('POST', '/api/admin/auth/mfa/setup', { password }, bearer)).json<{ secret: string }>();
  const codes = (await ok('POST', '/api/admin/auth/mfa/enable', { code: codeOf(secret, new Date()) }, bearer)).json<{
    recovery_codes: readonly string[];
  }>().recovery_codes;
  const challenge = (await ok('POST', '/api/admin/auth/login', { email, password }, own)).json<{
    challenge_token: string;
  }>().challenge_token;
  const second = (
    await ok('POST', '/api/admin/auth/mfa-verify', { challenge_token: challenge, code: codes[0] }, own)
  ).json<Session>();
  for (let n = 0; n < 5; n += 1)
    expect((await admin('POST', '/api/admin/auth/login', { email, password: guess }, strangers)).status).to.equal(401);
  await ok('POST', '/api/admin/auth/password-reset/request', { email });
  await admin('POST', '/api/admin/auth/password-reset/request', { email: STRANGER.email });
  const mails = await readdir(join(directory, 'outbox'));
  expect(mails).to.have.length(1);
  const token = /token=(\S+)/.exec(await readFile(join(directory, 'outbox', mails[0] ?? ''), 'utf8'))?.[1] ?? '';
  await ok('POST', '/api/admin/auth/password-reset/confirm', { token, password: reset });
  const last = (await ok('POST', '/api/admin/auth/login', { email, password: reset }, own)).json<{
    challenge_token: string;
  }>().challenge_token;
  const third = (
    await ok('POST', '/api/admin/auth/mfa-verify', { challenge_token: last, code: codes[1] }, own)
  ).json<Session>();
  await ok(
    'POST',
    '/api/admin/auth/password',
    { current_password: reset, new_password: changed },
    { ...own, authorization: `Bearer ${third.token}` },
  );
  const sessions = [session, second, third].flatMap((one) => [one.token, one.csrf_token, one.refresh_token]);
  return [
    secret,
    token,
    challenge,
    last,
    ...codes,
    ...codes.map((code) => code.replaceAll('-', '')),
    ...sessions,
    email.split('@')[0] ?? '',
    'second.palimpsest.test',
  ];
}

/** A user changes content, requests a mail, and is erased. @returns secrets that must not be stored in plain text */
async function erasedPerson(ok: Ok, content: Call, directory: string): Promise<readonly string[]> {
  const from = { 'x-forwarded-for': ERASED_ADDRESS };
  await ok('POST', '/api/admin/users', { ...ERASED, roles: ['admin', 'editor'] });
  const session = (await ok('POST', '/api/admin/auth/login', ERASED, from)).json<Session>();
  const bearer = { ...from, authorization: `Bearer ${session.token}` };
  const key = (
    await ok('POST', '/api/admin/api-keys', { name: 'theirs', roles: ['editor'], scopes: ['*:*'] }, bearer)
  ).json<{ id: string; raw_key: string }>();
  expect(
    (
      await content(
        'POST',
        '/api/v1/content/note',
        { data: { title: 'a readable title' } },
        { ...from, 'x-api-key': key.raw_key },
      )
    ).status,
  ).to.equal(201);
  await ok('POST', '/api/admin/auth/password-reset/request', { email: ERASED.email });
  await ok('POST', '/api/admin/auth/magic-link/request', { email: ERASED.email }, from);
  const held = async (): Promise<string> => {
    const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))).join('\n');
  };
  const before = await held();
  const mailed = [...before.matchAll(/token=([\w.-]+)/g)].map(([, token]) => token ?? '');
  expect(before).to.contain(ERASED.email);
  const { records } = (await ok('POST', '/api/admin/gdpr/export', { email: ERASED.email })).json<{
    records: Record<string, unknown[]>;
  }>();
  expect(records['outbox_mails']).to.have.length(2);
  expect(records['credential_requests']).to.not.be.empty;
  const { erased } = (await ok('POST', '/api/admin/gdpr/erase', { email: ERASED.email })).json<{
    erased: Record<string, number>;
  }>();
  expect(erased).to.include({ users: 1, outbox_mails: 2, magic_links: 1, password_resets: 1, person_keys: 1 });
  expect(await held(), 'no file of the data directory holds the address').to.not.contain(ERASED.email);
  return [
    ...mailed,
    ...[session].flatMap((one) => [one.token, one.csrf_token, one.refresh_token]),
    key.raw_key,
    ERASED.email.split('@')[0] ?? '',
    'fourth.palimpsest.test',
  ];
}

/** Users sign in by magic link, also a new one, and by device code. @returns secrets that must not be in plain text */
async function withoutPassword(admin: Call, ok: Ok, directory: string): Promise<readonly string[]> {
  const mails = new Set(await readdir(join(directory, 'outbox')));
  const tokens: string[] = [];
  for (const email of [OWNER.email, NEWCOMER]) {
    await ok('POST', '/api/admin/auth/magic-link/request', { email });
    const fresh = (await readdir(join(directory, 'outbox'))).filter((name) => !mails.has(name));
    expect(fresh).to.have.length(1);
    mails.add(fresh[0] ?? '');
    tokens.push(
      /verify\?token=(\S+)/.exec(await readFile(join(directory, 'outbox', fresh[0] ?? ''), 'utf8'))?.[1] ?? '',
    );
  }
  await admin('POST', '/api/admin/auth/magic-link/verify', { token: 'of-nobodys-magic-link' });
  const sessions: Session[] = [];
  for (const token of tokens)
    sessions.push((await ok('POST', '/api/admin/auth/magic-link/verify', { token })).json<Session>());
  const { device_code: device, user_code: code } = (await ok('POST', '/api/admin/auth/device')).json<{
    device_code: string;
    user_code: string;
  }>();
  await admin('POST', '/api/admin/auth/device/token', { device_code: device });
  await ok('GET', `/api/admin/auth/device/${code}`);
  await ok(
    'POST',
    `/api/admin/auth/device/${code}/approve`,
    { password: OWNER.password },
    { 'x-console-key': CONSOLE_KEY },
  );
  sessions.push((await ok('POST', '/api/admin/auth/device/token', { device_code: device })).json<Session>());
  const credentials = sessions.flatMap((one) => [one.token, one.csrf_token, one.refresh_token]);
  return [
    ...tokens,
    'of-nobodys-magic-link',
    device,
    code,
    code.replace('-', ''),
    CONSOLE_KEY,
    NEWCOMER,
    NEWCOMER.split('@')[0] ?? '',
    ...credentials,
  ];
}
