import type { Logger } from '../ports/logger.ts';
import type { ClaimedMail, MailQueue } from '../ports/mail-queue.ts';
import type { MailRelay } from '../ports/mail-relay.ts';
import type { Signals } from '../ports/signals.ts';
import type { Vault } from '../ports/vault.ts';
import { MAIL_CHANNEL, openMail } from './queued-mailer.ts';

export type MailWorkerDependencies = {
  readonly queue: Omit<MailQueue, 'add'>;
  readonly relay: MailRelay;
  readonly vault: Pick<Vault, 'openSecret'>;
  readonly signals: Pick<Signals, 'subscribe'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Wait after the given failed attempt, in milliseconds. Default: 5 s, four times as long each time, at most half an hour. */
  readonly retryDelayMs?: (attempt: number) => number;
};

export type MailWorker = {
  start(): void;
  /** Takes no more mails, finishes those at the relay. What waits is kept for the next start. */
  stop(): Promise<void>;
};

/** A mail that the relay would not take so often is given up. */
const MAX_ATTEMPTS = 12;
const AT_ONCE = 3;
/** Longer than the relay's own time-outs together. */
const LEASE_MS = 120_000;
/** A lost signal costs so much, and a mail that fell due again. */
const POLL_MS = 5_000;

/**
 * Takes mails from the queue to the relay (role `worker`); several processes share the work. A process that dies between the relay's
 * acceptance and the end of its row sends the mail again, under the same Message-ID.
 */
export function createMailWorker({ queue, relay, vault, signals, logger, now, retryDelayMs = backOff }: MailWorkerDependencies): MailWorker {
  const stopping = new AbortController();
  let wake: () => void = () => undefined;
  let woken = false;
  let running: Promise<void> | undefined;
  let stopListening: () => void = () => undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = false;
      if ((await look()) === 0) await rest();
    }
  }

  /** @returns how many mails were due */
  async function look(): Promise<number> {
    try {
      const due = await queue.claim({ limit: AT_ONCE, leaseMs: LEASE_MS });
      await Promise.all(due.map((mail) => finish(mail)));
      return due.length;
    } catch (error) {
      logger.warn('the queue of mails could not be read', { reason: String(error) });
      return 0;
    }
  }

  async function finish(claimed: ClaimedMail): Promise<void> {
    const { id, attempt } = claimed;
    const mail = openMail(vault, id, claimed.content);
    const late = mail !== undefined && mail.untilMs <= now().getTime();
    if (mail === undefined || late || mail.withheld) {
      if (!mail?.withheld) logger.warn('a mail was dropped', { mail_id: id, reason: late ? 'it could not be sent in time' : 'it can not be unsealed' });
      await queue.remove(claimed);
      return;
    }
    const delivery = await relay.deliver({ id, to: mail.to, subject: mail.subject, text: mail.text, html: mail.html });
    if (delivery.outcome === 'delivered') {
      logger.info('a mail was sent', { mail_id: id, attempt });
      await queue.remove(claimed);
    } else if (delivery.outcome === 'refused' || attempt >= MAX_ATTEMPTS) {
      logger.error('a mail was given up', { mail_id: id, attempt, reason: delivery.reason });
      await queue.remove(claimed);
    } else {
      const delayMs = retryDelayMs(attempt);
      logger.warn('a mail could not be sent yet', { mail_id: id, attempt, reason: delivery.reason, again_in_ms: delayMs });
      await queue.postpone(claimed, delayMs);
    }
  }

  function rest(): Promise<void> {
    if (woken || stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function arouse(): void {
    woken = true;
    wake();
  }

  return {
    start() {
      stopListening = signals.subscribe(MAIL_CHANNEL, arouse);
      running ??= run();
    },
    async stop() {
      stopping.abort();
      stopListening();
      arouse();
      await running;
      relay.close();
    },
  };
}

function backOff(attempt: number): number {
  return Math.min(5_000 * 4 ** (attempt - 1), 1_800_000);
}
