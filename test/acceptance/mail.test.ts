import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '../../domain/durations.ts';
import type { ProtectionLimits } from '../../domain/traffic/protections.ts';
import { type Service, startService } from '../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { createMagicLinks } from '../../infrastructure/identity/magic-links.ts';
import { sweepMagicLinks } from '../../infrastructure/identity/sweep-magic-links.ts';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { caller } from '../support/http.ts';
import { OWNER, setUpOwner } from '../support/owner.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { type TestService, testEnvironment, useService } from '../support/service.ts';
import { type MailServer, startMailServer } from '../support/smtp-server.ts';

const REQUEST = '/api/admin/auth/magic-link/request';
const VERIFY = '/api/admin/auth/magic-link/verify';
const MINUTE_MS = 60_000;

/** The token in the raw text of a mail. */
function tokenIn(text: string): string {
  // A mail to a mail server encodes long lines as quoted-printable.
  const plain = text.replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  return /\/auth\/magic-link\/verify\?token=([\w-]{43})\s/.exec(plain)?.[1] ?? '';
}

type MailingService = TestService & {
  readonly logger: ReturnType<typeof recordingLogger>;
  /** The names in its data directory. */
  readonly files: () => Promise<readonly string[]>;
  /** The only mail in the outbox. */
  readonly outbox: () => Promise<{ readonly file: string; readonly text: string }>;
  /** Advances the clock and runs the sweep of magic links, which a service repeats. */
  readonly sweepAfter: (ms: number) => Promise<void>;
  readonly rows: (table: 'magic_links' | 'magic_link_sign_ins') => Promise<number>;
};

/** Starts a service whose clock the test controls. */
function useMailingService(environment: Record<string, string> = {}, protections?: ProtectionLimits): MailingService {
  const logger = recordingLogger();
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  const service = useService({
    environment,
    start: {
      logger,
      ...(protections && { protections }),
      now,
    },
  });
  return {
    ...service,
    logger,
    files: () => readdir(service.directory()),
    async outbox() {
      const names = await readdir(join(service.directory(), 'outbox'));
      expect(names).to.have.length(1);
      const file = join(service.directory(), 'outbox', names[0] ?? '');
      return { file, text: await readFile(file, 'utf8') };
    },
    async sweepAfter(ms) {
      ahead = ms;
      const database = service.database.db();
      const layer = environmentLayer({
        ...testEnvironment(service.database.url(), service.directory()),
        ...environment,
      });
      const { settings } = loadSettings([layer]);
      await sweepMagicLinks(
        {
          tokenRetentionMinutes: settings.magicLinkTokenRetentionMinutes,
          retentionDays: settings.magicLinkRetentionDays,
        },
        { now },
        { magicLinks: createMagicLinks({ database }) },
      );
    },
    rows: async (table) => (await service.database.db().query(`select 1 from operational.${table}`)).length,
  };
}

describe('a service that writes mails to the development outbox', function () {
  this.timeout(30_000);
  const { admin, outbox, logger } = useMailingService();

  it('writes the sign-in link to a private file before it answers, and the link signs in', async () => {
    expect((await admin('POST', REQUEST, { email: OWNER.email })).status).to.equal(200);
    const { file, text } = await outbox();
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(text).to.contain(`To: ${OWNER.email}`).and.contain('http://localhost:5173/auth/magic-link/verify?token=');
    expect(JSON.stringify(logger.lines))
      .to.contain(file)
      .and.not.to.contain(tokenIn(text))
      .and.not.to.contain(OWNER.email);
    expect((await admin('POST', VERIFY, { token: tokenIn(text) })).status).to.equal(200);
  });
});

describe('a service that sends mails through an SMTP server', function () {
  this.timeout(30_000);
  // The mail server listens before the service starts, so that its port is known.
  const environment: Record<string, string> = {
    SMTP_HOST: '127.0.0.1',
    SMTP_FROM: 'Palimpsest <no-reply@palimpsest.test>',
    SVC_CONSOLE_URL: 'https://console.palimpsest.test',
  };
  let mailServer: MailServer | undefined;
  before(async () => {
    mailServer = await startMailServer();
    environment['SMTP_PORT'] = String(mailServer.port);
  });
  after(() => mailServer?.close());
  const { admin, files } = useMailingService(environment);

  it('sends sign-in links to users who can sign in, and writes no files', async () => {
    await admin('POST', REQUEST, { email: 'nobody@palimpsest.test' });
    await admin('POST', REQUEST, { email: OWNER.email });
    const mails = await mailServer?.waitFor(1);
    expect(mails?.map(({ to }) => to)).to.deep.equal([[OWNER.email]]);
    expect((await admin('POST', VERIFY, { token: tokenIn(mails?.[0]?.raw ?? '') })).status).to.equal(200);
    expect(await files()).not.to.include('outbox');
  });
});

describe('stored magic links', function () {
  this.timeout(30_000);
  const { admin, outbox, sweepAfter, rows } = useMailingService();

  it('are deleted after one hour, and the history of sign-ins after one year', async () => {
    await admin('POST', REQUEST, { email: OWNER.email });
    await admin('POST', VERIFY, { token: tokenIn((await outbox()).text) });
    await sweepAfter(59 * MINUTE_MS);
    expect([await rows('magic_links'), await rows('magic_link_sign_ins')]).to.deep.equal([1, 1]);
    await sweepAfter(61 * MINUTE_MS);
    expect([await rows('magic_links'), await rows('magic_link_sign_ins')]).to.deep.equal([0, 1]);
    await sweepAfter(366 * DAY_MS);
    expect(await rows('magic_link_sign_ins')).to.equal(0);
  });
});

describe('stored magic links with unlimited retention', function () {
  this.timeout(30_000);
  const { admin, outbox, sweepAfter, rows } = useMailingService({
    MAGIC_LINK_RETENTION_DAYS: '0',
    MAGIC_LINK_TOKEN_RETENTION_MINUTES: '1',
    MAGIC_LINK_TTL_SECONDS: '9999',
  });

  it('are kept while the link is valid, at most one hour, and the history is kept permanently', async () => {
    await admin('POST', REQUEST, { email: OWNER.email });
    await sweepAfter(59 * MINUTE_MS);
    expect((await admin('POST', VERIFY, { token: tokenIn((await outbox()).text) })).status).to.equal(200);
    await sweepAfter(10_000 * DAY_MS);
    expect([await rows('magic_links'), await rows('magic_link_sign_ins')]).to.deep.equal([0, 1]);
  });
});

describe('a service without the feature magic-link', function () {
  this.timeout(30_000);
  const { admin } = useMailingService({ SVC_PLUGINS: 'apikey,schema,content' });

  it('does not serve its routes', async () => {
    for (const path of [REQUEST, VERIFY]) expect((await admin('POST', path, {})).status).to.equal(404);
  });
});

describe('a production service without a console URL and without a mail server', function () {
  this.timeout(30_000);
  const directory = useDirectory();
  const logger = recordingLogger();
  let service: Service | undefined;
  after(async () => {
    await service?.stop();
  });
  const database = useDatabase();

  it('starts, logs that magic links are unavailable, and answers 503 to them and to device sign-ins', async () => {
    const { settings } = loadSettings([environmentLayer(testEnvironment(database.url(), directory()))]);
    service = await startService({ settings: { ...settings, appEnv: 'production', consoleUrl: undefined }, logger });
    const admin = caller(() => service?.adminUrl ?? '');
    for (const path of [REQUEST, VERIFY])
      expect((await admin('POST', path, {})).json()).to.include({ error: 'magic link sign-in is not configured' });
    expect((await admin('POST', '/api/admin/auth/device')).json()).to.include({
      error: 'Device sign-in is not configured on this install.',
    });
    const { token } = await setUpOwner(admin);
    const features = await admin('GET', '/api/admin/plugins/status', undefined, { authorization: `Bearer ${token}` });
    expect(features.text).to.contain('SVC_CONSOLE_URL is unset');
    expect(logger.lines.find(({ message }) => message === 'magic-link sign-in does not start')?.fields).to.deep.equal({
      reason: 'SVC_CONSOLE_URL is unset',
    });
  });
});

describe('a service that shares a secret with the console', function () {
  this.timeout(30_000);
  const key = 'the-key-that-is-shared-with-the-console';
  const previous = 'the-key-that-was-shared-with-it-before';
  const { admin } = useMailingService(
    { ADMIN_CONSOLE_KEY: key, ADMIN_CONSOLE_KEY_PREVIOUS: previous },
    { 'magic-link.request-ip': { requests: 5, windowSeconds: 900 } },
  );

  it("limits requests by the user's address when the console sends the current or previous secret, otherwise by the console's", async () => {
    const ask = (headers: Readonly<Record<string, string>>) =>
      admin('POST', REQUEST, { email: `${randomUUID()}@palimpsest.test` }, headers);
    const spend = async (headers: Readonly<Record<string, string>>) => {
      for (let n = 0; n < 5; n += 1) expect((await ask(headers)).status).to.equal(200);
      return (await ask(headers)).status;
    };
    expect(await spend({ 'x-console-key': key, 'x-forwarded-for': '203.0.113.1' })).to.equal(429);
    expect((await ask({ 'x-console-key': key, 'x-forwarded-for': '203.0.113.2' })).status, 'another person').to.equal(
      200,
    );
    expect(
      (await ask({ 'x-console-key': previous, 'x-forwarded-for': '203.0.113.1' })).status,
      'the same person',
    ).to.equal(429);
    expect(await spend({ 'x-forwarded-for': '203.0.113.3' })).to.equal(429);
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.4' },
      { 'x-console-key': `${key}x`, 'x-forwarded-for': '203.0.113.5' },
      { 'x-console-key': '', 'x-forwarded-for': '203.0.113.6' },
      { 'x-console-key': key },
    ]) {
      expect((await ask(headers)).status, JSON.stringify(headers)).to.equal(429);
    }
  });
});
