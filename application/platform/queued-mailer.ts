import { DAY_MS } from '../../domain/durations.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { MailQueue } from '../ports/mail-queue.ts';
import type { Mail, Mailer } from '../ports/mailer.ts';
import type { Signals } from '../ports/signals.ts';
import type { Vault } from '../ports/vault.ts';

export type QueuedMailerDependencies = {
  readonly queue: Pick<MailQueue, 'add'>;
  readonly vault: Pick<Vault, 'sealSecret'>;
  readonly signals: Pick<Signals, 'publish'>;
  readonly now: () => Date;
  readonly newId: () => string;
};

/** A queued mail in plain text. */
export type QueuedMail = Pick<Mail, 'to' | 'subject' | 'text' | 'html'> & {
  /** The mail is queued but never sent. */
  readonly withheld: boolean;
  /** Deadline in Unix milliseconds; a later attempt drops the mail. */
  readonly untilMs: number;
};

/** Signal channel that wakes the mail workers of all processes. */
export const MAIL_CHANNEL = 'mail';

/** Mailer that adds one row to the queue for each mail, also for withheld mails. */
export function createQueuedMailer({ queue, vault, signals, now, newId }: QueuedMailerDependencies): Mailer {
  return {
    configured: true,
    async send({ to, subject, text, html, until, withheld = false }) {
      const id = newId();
      const content = {
        to,
        subject,
        text,
        ...(html !== undefined && { html }),
        withheld,
        untilMs: until?.getTime() ?? now().getTime() + DAY_MS,
      };
      await queue.add({ id, content: vault.sealSecret(mailPurpose(id), JSON.stringify(content)) });
      signals.publish(MAIL_CHANNEL, '');
    },
  };
}

/** Opens the content of a queued mail. @returns undefined when it was sealed under another `ENCRYPTION_KEY` */
export function decryptMail(
  { id, content }: { readonly id: string; readonly content: SealedValue },
  { vault }: { readonly vault: Pick<Vault, 'openSecret'> },
): QueuedMail | undefined {
  try {
    // Only `send` seals under this purpose, so the content has its shape.
    return JSON.parse(vault.openSecret(mailPurpose(id), content)) as QueuedMail;
  } catch {
    return undefined;
  }
}

function mailPurpose(id: string): string {
  return `mail/${id}`;
}
