import { createTransport } from 'nodemailer';
import type { Delivery, MailRelay } from '../../application/ports/mail-relay.ts';

export type SmtpRelayOptions = {
  readonly host: string;
  readonly port: number;
  /** An address, or `Name <address>`. */
  readonly from: string;
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
};

const IMPLICIT_TLS_PORT = 465;
const CONNECT_MS = 10_000;
/** Silence of the relay in the midst of a conversation. */
const SILENCE_MS = 30_000;
const MAX_CONNECTIONS = 3;

/**
 * Delivers over SMTP, a few connections kept open. TLS is implicit on port 465; elsewhere STARTTLS is used where it is offered, and demanded
 * where a password would leave this machine. Certificates are checked, but for those of a relay on this machine.
 */
export function createSmtpRelay({ host, port, from, credentials }: SmtpRelayOptions): MailRelay {
  const local = isLoopback(host);
  const transport = createTransport({
    host, port,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    secure: port === IMPLICIT_TLS_PORT,
    requireTLS: credentials !== undefined && !local,
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: !local },
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A mail never makes this process read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';

  return {
    async deliver({ id, to, subject, text, html }): Promise<Delivery> {
      try {
        await transport.sendMail({
          // As an object: an address that holds a comma stays one address.
          from, to: { name: '', address: to }, subject, text, ...(html !== undefined && { html }),
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

/** Codes of refusals that are about the mail itself: everything else may be mended by whoever runs the relay. */
const ABOUT_THE_MAIL: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE']);

/** The relay's words are left out: they quote addresses. */
function failureOf(error: unknown): Delivery {
  const { code, status } = detailsOf(error);
  const reason = [typeof code === 'string' ? code : 'unknown', ...(status === undefined ? [] : [String(status)])].join(' ');
  const final = ABOUT_THE_MAIL.has(code) && status !== undefined && status >= 500;
  return { outcome: final ? 'refused' : 'failed', reason };
}

function detailsOf(error: unknown): { readonly code: unknown; readonly status: number | undefined } {
  if (typeof error !== 'object' || error === null) return { code: undefined, status: undefined };
  return {
    code: 'code' in error ? error.code : undefined,
    status: 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined,
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
