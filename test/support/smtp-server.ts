import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A received mail. */
export type ReceivedMail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly secure: boolean;
  readonly raw: string;
};

export type MailServer = {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Number of sign-in attempts. */
  readonly passwordsSeen: () => number;
  /** Resolves with the mails when `count` have arrived. @throws Error after ten seconds */
  waitFor(count: number): Promise<readonly ReceivedMail[]>;
  /** Refuses recipients with this SMTP status from now on. Undefined: accepts them. */
  refuseWith(status: number | undefined): void;
  close(): Promise<void>;
};

export type MailServerOptions = {
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly port?: number;
  readonly withoutTls?: boolean;
};

const MAX_WAIT_MS = 10_000;

/**
 * Starts an SMTP server on a free port of the loopback interface. With `credentials` it requires a sign-in over
 * STARTTLS, with a self-signed certificate.
 */
export async function startMailServer({
  credentials,
  port = 0,
  withoutTls = false,
}: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const waiting = new Set<() => void>();
  let attempts = 0;
  let refusing: number | undefined;
  const server = new SMTPServer({
    authOptional: credentials === undefined,
    logger: false,
    closeTimeout: 300,
    ...(withoutTls && { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
    onAuth({ username, password }, _session, done) {
      attempts += 1;
      if (username === credentials?.user && password === credentials?.password) done(null, { user: username ?? '' });
      else done(new Error('wrong credentials'));
    },
    onRcptTo(_address, _session, done) {
      done(
        refusing === undefined
          ? null
          : Object.assign(new Error('not now <someone@nowhere.test>'), { responseCode: refusing }),
      );
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: typeof session.user === 'string' ? session.user : undefined,
          secure: session.secure,
          raw: Buffer.concat(chunks).toString('utf8'),
        });
        done();
        for (const check of waiting) check();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    passwordsSeen: () => attempts,
    waitFor: (count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`${mails.length} of ${count} mails arrived`));
        }, MAX_WAIT_MS);
        const check = (): void => {
          if (mails.length < count) return;
          clearTimeout(late);
          waiting.delete(check);
          resolve(mails);
        };
        waiting.add(check);
        check();
      }),
    refuseWith(status) {
      refusing = status;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}
