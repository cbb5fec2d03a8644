import { createWaker } from '../concurrency/waker.ts';
import type { Logger } from '../ports/logger.ts';
import type { MailQueue, ReservedMail } from '../ports/mail-queue.ts';
import type { MailTransport } from '../ports/mail-transport.ts';
import type { Signals } from '../ports/signals.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import type { Vault } from '../ports/vault.ts';
import { MAIL_CHANNEL, decryptMail } from './queued-mailer.ts';

export type MailWorkerDependencies = {
  readonly queue: Omit<MailQueue, 'add'>;
  readonly transport: MailTransport;
  readonly vault: Pick<Vault, 'openSecret'>;
  readonly signals: Pick<Signals, 'subscribe'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /**
   * Delay after the failed attempt number `attempt` (from 1), in milliseconds. Default: 5 s, four times longer after
   * each attempt, at most 30 min.
   */
  readonly retryDelayMs?: (attempt: number) => number;
};

export type MailWorker = {
  start(): void;
  /** Stops reserving mails and waits for those being sent. Mails in the queue stay there. */
  stop(): Promise<void>;
};

/** Attempts after which a mail is dropped. */
const MAX_ATTEMPTS = 12;
/** Maximum number of mails that are sent at the same time. */
const CONCURRENCY = 3;
/** How long a reservation hides a mail from other workers. It exceeds the sum of the transport's timeouts. */
const RESERVED_MS = 120_000;
/** Maximum time between two reads of the queue: no signal announces a retry, and signals may be lost. */
const POLL_MS = 5_000;

/**
 * Sends queued mails through the transport (role `worker`); several processes share the work. When a process crashes
 * after the mail server accepted a mail and before its row is deleted, the mail is sent again with the same Message-ID.
 */
export function createMailWorker({
  queue,
  transport,
  vault,
  signals,
  logger,
  now,
  retryDelayMs = backOff,
}: MailWorkerDependencies): MailWorker {
  const stopping = new AbortController();
  const waker = createWaker();
  let running: Promise<void> | undefined;
  let stopListening: () => void = () => undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      waker.reset();
      if ((await sendDue()) === 0) await waker.wait(POLL_MS);
    }
  }

  /** @returns the number of mails that were due */
  async function sendDue(): Promise<number> {
    try {
      const due = await queue.reserve({ limit: CONCURRENCY, reservedMs: RESERVED_MS });
      await Promise.all(due.map((mail) => send(mail)));
      return due.length;
    } catch (error) {
      logger.warn('the mail queue could not be read', { reason: reasonOf(error) });
      return 0;
    }
  }

  async function send(reserved: ReservedMail): Promise<void> {
    const { id, attempt } = reserved;
    const mail = decryptMail({ id, content: reserved.content }, { vault });
    const expired = mail !== undefined && mail.untilMs <= now().getTime();
    if (mail === undefined || expired || mail.withheld) {
      if (!mail?.withheld)
        logger.warn('a mail was dropped', {
          mail_id: id,
          reason: expired
            ? 'it was not sent before its deadline'
            : 'it cannot be opened with the current ENCRYPTION_KEY',
        });
      await queue.remove(reserved);
      return;
    }
    const delivery = await transport.deliver({
      id,
      to: mail.to,
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
    });
    if (delivery.outcome === 'delivered') {
      logger.info('a mail was sent', { mail_id: id, attempt });
      await queue.remove(reserved);
    } else if (delivery.outcome === 'rejected' || attempt >= MAX_ATTEMPTS) {
      logger.error('a mail was dropped after its last attempt', { mail_id: id, attempt, reason: delivery.reason });
      await queue.remove(reserved);
    } else {
      const delayMs = retryDelayMs(attempt);
      logger.warn('a mail was not sent; it will be retried', {
        mail_id: id,
        attempt,
        reason: delivery.reason,
        again_in_ms: delayMs,
      });
      await queue.postpone(reserved, delayMs);
    }
  }

  return {
    start() {
      stopListening = signals.subscribe(MAIL_CHANNEL, waker.wake);
      running ??= run();
    },
    async stop() {
      stopping.abort();
      stopListening();
      waker.wake();
      await running;
      transport.close();
    },
  };
}

function backOff(attempt: number): number {
  return Math.min(5_000 * 4 ** (attempt - 1), 1_800_000);
}
