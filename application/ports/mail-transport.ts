import type { Mail } from './mailer.ts';

export type Delivery =
  | { readonly outcome: 'delivered' }
  /** The mail server permanently rejects this mail. `reason` contains no address. */
  | { readonly outcome: 'rejected'; readonly reason: string }
  /** Unreachable, busy or misconfigured: a later attempt may succeed. */
  | { readonly outcome: 'failed'; readonly reason: string };

/** Sends mails to the configured mail server. */
export type MailTransport = {
  /**
   * Sends one mail. `id` becomes its Message-ID, so that mail clients show a mail that is sent twice only once. Never
   * throws.
   */
  deliver(mail: Pick<Mail, 'to' | 'subject' | 'text' | 'html'> & { readonly id: string }): Promise<Delivery>;
  /** Closes its connections. */
  close(): void;
};
