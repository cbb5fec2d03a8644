import type { Mail } from './mailer.ts';

export type Delivery =
  | { readonly outcome: 'delivered' }
  /** The relay will never take this mail. `reason` holds no address. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** Away, busy, or not set up right: a later try may succeed. */
  | { readonly outcome: 'failed'; readonly reason: string };

/** Hands mails to the next mail server. */
export type MailRelay = {
  /** `id` becomes the mail's Message-ID, so that one that is sent twice is shown once. Never throws. */
  deliver(mail: Pick<Mail, 'to' | 'subject' | 'text' | 'html'> & { readonly id: string }): Promise<Delivery>;
  /** Ends its connections. */
  close(): void;
};
