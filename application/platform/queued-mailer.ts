import type { Mail, Mailer } from '../ports/mailer.ts';
import type { MailQueue } from '../ports/mail-queue.ts';
import type { Signals } from '../ports/signals.ts';
import type { Sealed, Vault } from '../ports/vault.ts';

export type QueuedMailerDependencies = {
  readonly queue: Pick<MailQueue, 'add'>;
  readonly vault: Pick<Vault, 'sealSecret'>;
  readonly signals: Pick<Signals, 'publish'>;
  readonly now: () => Date;
  readonly newId: () => string;
};

/** A mail as the queue holds it, once unsealed. */
export type QueuedMail = Pick<Mail, 'to' | 'subject' | 'text' | 'html'> & { readonly withheld: boolean; readonly untilMs: number };

/** Tells the workers of every process that there is a mail. */
export const MAIL_CHANNEL = 'mail';

const DAY_MS = 86_400_000;

/** The mailer that puts mails in the queue: one row for each, sent or withheld. */
export function createQueuedMailer({ queue, vault, signals, now, newId }: QueuedMailerDependencies): Mailer {
  return {
    configured: true,
    async send({ to, subject, text, html, until, withheld = false }) {
      const id = newId();
      const content = { to, subject, text, ...(html !== undefined && { html }), withheld, untilMs: until?.getTime() ?? now().getTime() + DAY_MS };
      await queue.add({ id, content: vault.sealSecret(mailPurpose(id), JSON.stringify(content)) });
      signals.publish(MAIL_CHANNEL, '');
    },
  };
}

/** Opens what `send` sealed. @returns undefined where it can't be opened: the key is another now */
export function openMail(vault: Pick<Vault, 'openSecret'>, id: string, content: Sealed): QueuedMail | undefined {
  try {
    // Only `send` seals under this purpose.
    return JSON.parse(vault.openSecret(mailPurpose(id), content)) as QueuedMail;
  } catch {
    return undefined;
  }
}

function mailPurpose(id: string): string {
  return `mail/${id}`;
}
