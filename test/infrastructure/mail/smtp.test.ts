import { expect } from 'chai';
import { v7 } from 'uuid';
import { createMailWorker } from '../../../application/platform/mail-worker.ts';
import { createQueuedMailer } from '../../../application/platform/queued-mailer.ts';
import { createVault } from '../../../infrastructure/crypto/vault.ts';
import { createMailQueue } from '../../../infrastructure/mail/mail-queue.ts';
import { openSmtpTransport } from '../../../infrastructure/mail/smtp-transport.ts';
import { openInProcessSignals } from '../../../infrastructure/signals/in-process.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { type MailServer, startMailServer } from '../../support/smtp-server.ts';

const ENCRYPTION_KEY = 'a key of thirty-two characters at least';
const MAIL = {
  to: 'zoe@people.palimpsest.test',
  subject: 'Grüße',
  text: 'the text of the mail\n',
  html: '<p>the text of the mail</p>',
} as const;

describe('mail over SMTP', function () {
  this.timeout(20_000);
  const closing: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await database.db().execute('delete from operational.mail_queue');
  });
  const database = useDatabase();

  /** Creates a mailer and a worker, as one process has them. */
  function openMail({
    server,
    credentials,
    from = 'Palimpsest <no-reply@palimpsest.test>',
    host = '127.0.0.1',
    encryptionKey = ENCRYPTION_KEY,
    now = () => new Date(),
    retryDelayMs = 0,
    startTls = 'required',
  }: {
    readonly server: Pick<MailServer, 'port'>;
    readonly credentials?: { readonly user: string; readonly password: string };
    readonly from?: string;
    readonly host?: string;
    readonly encryptionKey?: string;
    readonly now?: () => Date;
    readonly retryDelayMs?: number;
    readonly startTls?: 'required' | 'optional';
  }) {
    const signals = openInProcessSignals();
    const logger = recordingLogger();
    const vault = createVault({ database: database.db(), encryptionKey });
    const queue = createMailQueue({ database: database.db() });
    const transport = openSmtpTransport({ host, port: server.port, from, credentials, startTls });
    const worker = createMailWorker({
      queue,
      transport,
      vault,
      signals,
      logger,
      now,
      retryDelayMs: () => retryDelayMs,
    });
    closing.push(() => worker.stop());
    return { mailer: createQueuedMailer({ queue, vault, signals, now, newId: v7 }), worker, logger };
  }
  async function mailServer(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
    const server = await startMailServer(options);
    closing.push(() => server.close());
    return server;
  }
  const queued = async () =>
    (await database.db().query<{ row: string }>('select to_jsonb(q)::text as row from operational.mail_queue q')).map(
      ({ row }) => row,
    );

  it('sends a mail with sender, both bodies and a Message-ID, and then deletes it from the queue', async () => {
    const server = await mailServer();
    const { mailer, worker } = openMail({ server });
    worker.start();
    await mailer.send(MAIL);
    const [mail] = await server.waitFor(1);
    expect(mail).to.include({ from: 'no-reply@palimpsest.test' });
    expect(mail?.to).to.deep.equal([MAIL.to]);
    expect(mail?.raw)
      .to.contain('From: Palimpsest <no-reply@palimpsest.test>')
      .and.contain('the text of the mail')
      .and.contain('<p>')
      .and.match(/Message-ID: <[0-9a-f-]{36}@palimpsest\.test>/i);
    expect(mail?.raw).to.contain('Auto-Submitted: auto-generated');
    await eventually(async () => {
      expect(await queued()).to.deep.equal([]);
    });
  });

  it('keeps a mail sealed in the queue until a worker sends it, also one of another process', async () => {
    const server = await mailServer();
    await openMail({ server }).mailer.send(MAIL);
    const [row = ''] = await queued();
    for (const plainText of [MAIL.to, 'zoe', MAIL.subject, MAIL.text.trim()]) expect(row).not.to.contain(plainText);
    openMail({ server }).worker.start();
    await server.waitFor(1);
  });

  it('retries while the mail server refuses temporarily, and logs no address', async () => {
    const server = await mailServer();
    server.refuseWith(451);
    const { mailer, worker, logger } = openMail({ server });
    worker.start();
    await mailer.send(MAIL);
    await eventually(() => {
      expect(
        logger.lines.filter(({ message }) => message === 'a mail was not sent; it will be retried').length,
      ).to.be.at.least(2);
    });
    server.refuseWith(undefined);
    await server.waitFor(1);
    expect(JSON.stringify(logger.lines)).not.to.contain('zoe').and.not.to.contain('nowhere.test');
  });

  it('keeps a mail while the mail server is unreachable, and sends it after a restart', async () => {
    const unreachable = await startMailServer();
    await unreachable.close();
    const { mailer, worker, logger } = openMail({ server: unreachable, retryDelayMs: 60_000 });
    worker.start();
    await mailer.send(MAIL);
    await eventually(() => {
      expect(
        logger.lines.find(({ message }) => message === 'a mail was not sent; it will be retried')?.fields,
      ).to.include({
        attempt: 1,
        again_in_ms: 60_000,
      });
    });
    await worker.stop();
    const back = await startMailServer({ port: unreachable.port });
    closing.push(() => back.close());
    await database.db().execute('update operational.mail_queue set due_at = now()');
    openMail({ server: back }).worker.start();
    await back.waitFor(1);
  });

  it('drops a mail that the mail server refuses permanently, or temporarily twelve times', async () => {
    const server = await mailServer();
    const { mailer, worker, logger } = openMail({ server });
    worker.start();
    const droppedAfter = () =>
      logger.lines
        .filter(({ message }) => message === 'a mail was dropped after its last attempt')
        .map(({ fields }) => fields['attempt']);
    server.refuseWith(550);
    await mailer.send(MAIL);
    await eventually(() => {
      expect(droppedAfter()).to.deep.equal([1]);
    });
    server.refuseWith(451);
    await mailer.send(MAIL);
    await eventually(() => {
      expect(droppedAfter()).to.deep.equal([1, 12]);
    });
    expect(await queued()).to.deep.equal([]);
  });

  it('drops a mail after its deadline, one sealed under another key, and without a log line a withheld one', async () => {
    const server = await mailServer();
    const late = new Date('2030-01-01T00:00:00Z');
    const { mailer, worker, logger } = openMail({ server, now: () => late });
    await mailer.send({ ...MAIL, until: late });
    await mailer.send({ ...MAIL, withheld: true });
    await openMail({ server, encryptionKey: `${ENCRYPTION_KEY}!` }).mailer.send(MAIL);
    await mailer.send({ ...MAIL, to: 'last@people.palimpsest.test' });
    worker.start();
    await server.waitFor(1);
    expect(server.mails.map(({ to }) => to)).to.deep.equal([['last@people.palimpsest.test']]);
    expect(
      logger.lines.filter(({ message }) => message === 'a mail was dropped').map(({ fields }) => fields['reason']),
    ).to.have.members(['it was not sent before its deadline', 'it cannot be opened with the current ENCRYPTION_KEY']);
  });

  it('authenticates over STARTTLS', async () => {
    const credentials = { user: 'relay-user', password: 'relay-password' };
    const server = await mailServer({ credentials });
    const { mailer, worker } = openMail({ server, credentials });
    worker.start();
    await mailer.send(MAIL);
    const [mail] = await server.waitFor(1);
    expect(mail).to.include({ user: 'relay-user', secure: true });
  });

  it('sends no mail without STARTTLS, also without a password and on this machine, unless it is optional', async () => {
    const server = await mailServer({ withoutTls: true });
    const { mailer, worker, logger } = openMail({ server });
    worker.start();
    await mailer.send(MAIL);
    await eventually(() => {
      expect(
        logger.lines.find(({ message }) => message === 'a mail was not sent; it will be retried')?.fields['reason'],
      ).to.match(/^ETLS/);
    });
    await worker.stop();
    expect(server.mails).to.deep.equal([]);
    openMail({ server, startTls: 'optional' }).worker.start();
    const [mail] = await server.waitFor(1);
    expect(mail).to.include({ secure: false });
  });

  it('uses STARTTLS where the relay offers it, also when it is optional', async () => {
    const server = await mailServer();
    const { mailer, worker } = openMail({ server, startTls: 'optional' });
    worker.start();
    await mailer.send(MAIL);
    expect((await server.waitFor(1))[0]).to.include({ secure: true });
  });

  it('sends neither password nor mail to another machine without STARTTLS, also when it is optional', async () => {
    const credentials = { user: 'relay-user', password: 'relay-password' };
    const server = await mailServer({ credentials, withoutTls: true });
    // 0.0.0.0 reaches this machine but does not count as a loopback address.
    const { mailer, worker, logger } = openMail({ server, credentials, host: '0.0.0.0', startTls: 'optional' });
    worker.start();
    await mailer.send(MAIL);
    await eventually(() => {
      expect(
        logger.lines.find(({ message }) => message === 'a mail was not sent; it will be retried')?.fields['reason'],
      ).to.match(/^ETLS/);
    });
    expect(server.passwordsSeen()).to.equal(0);
    expect(server.mails).to.deep.equal([]);
  });

  it('does not add recipients or headers for a comma in the address or a line break in the subject', async () => {
    const server = await mailServer();
    const { mailer, worker } = openMail({ server });
    worker.start();
    await mailer.send({
      ...MAIL,
      to: 'x,victim@people.palimpsest.test',
      subject: 'a\r\nBcc: other@people.palimpsest.test',
    });
    const [mail] = await server.waitFor(1);
    expect(mail?.to).to.have.length(1);
    expect(mail?.to).not.to.include('victim@people.palimpsest.test');
    expect(mail?.raw).not.to.match(/^Bcc:/im);
  });

  it('sends each mail once when several processes share the queue', async () => {
    const server = await mailServer();
    const [one, other] = [openMail({ server }), openMail({ server })];
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => one.mailer.send({ ...MAIL, to: `person-${at}@people.palimpsest.test` })),
    );
    one.worker.start();
    other.worker.start();
    await server.waitFor(12);
    await one.worker.stop();
    await other.worker.stop();
    expect(new Set(server.mails.map(({ to }) => to[0])).size).to.equal(12);
    expect(server.mails).to.have.length(12);
    expect(await queued()).to.deep.equal([]);
  });
});
