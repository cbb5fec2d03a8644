import { createTransport } from 'nodemailer';
import type { Delivery, MailTransport } from '../../application/ports/mail-transport.ts';
import { isLoopback } from '../configuration/is-loopback.ts';

export type SmtpTransportOptions = {
  readonly host: string;
  readonly port: number;
  /** Sender: an address, or `Name <address>`. */
  readonly from: string;
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
  /** Setting `SMTP_STARTTLS`. */
  readonly startTls: 'required' | 'optional';
};

const IMPLICIT_TLS_PORT = 465;
const CONNECT_MS = 10_000;
/** Longest time without data from the mail server on an open connection. */
const IDLE_SOCKET_MS = 30_000;
const MAX_CONNECTIONS = 3;

/**
 * Creates the SMTP transport; it keeps a few connections open. Port 465 uses implicit TLS. Other ports require
 * STARTTLS; with `startTls: 'optional'` they use it where the mail server offers it, but credentials for another
 * machine still require it. Certificates are verified unless the mail server is on this machine.
 */
export function openSmtpTransport({ host, port, from, credentials, startTls }: SmtpTransportOptions): MailTransport {
  const local = isLoopback(host);
  const transport = createTransport({
    host,
    port,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    secure: port === IMPLICIT_TLS_PORT,
    requireTLS: startTls === 'required' || (credentials !== undefined && !local),
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !local },
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: IDLE_SOCKET_MS,
    // The content of a mail must not make this process read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';

  return {
    async deliver({ id, to, subject, text, html }): Promise<Delivery> {
      try {
        await transport.sendMail({
          // An object, because nodemailer splits text with a comma into several addresses.
          from,
          to: { name: '', address: to },
          subject,
          text,
          ...(html !== undefined && { html }),
          messageId: `<${id}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return { outcome: 'delivered' };
      } catch (error) {
        return failureOf(error);
      }
    },
    close: () => {
      transport.close();
    },
  };
}

/** Error codes that concern the mail itself. All other errors concern the mail server and may be fixed there. */
const MAIL_ERRORS: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);

/** The reason contains codes only, because the text of the mail server's response may contain addresses. */
function failureOf(error: unknown): Delivery {
  const { code, status } = detailsOf(error);
  const reason = [typeof code === 'string' ? code : 'unknown', ...(status === undefined ? [] : [String(status)])].join(
    ' ',
  );
  const final = MAIL_ERRORS.has(code) && status !== undefined && status >= 500;
  return { outcome: final ? 'rejected' : 'failed', reason };
}

function detailsOf(error: unknown): { readonly code: unknown; readonly status: number | undefined } {
  if (typeof error !== 'object' || error === null) return { code: undefined, status: undefined };
  return {
    code: 'code' in error ? error.code : undefined,
    status: 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined,
  };
}
