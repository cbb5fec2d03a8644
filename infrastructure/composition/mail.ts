import { join, resolve } from 'node:path';
import { createMailWorker } from '../../application/platform/mail-worker.ts';
import { createQueuedMailer } from '../../application/platform/queued-mailer.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createOutbox } from '../mail/outbox.ts';
import { createPostgresMailQueue } from '../mail/postgres-mail-queue.ts';
import { createSmtpRelay } from '../mail/smtp-relay.ts';
import type { Stores } from './stores.ts';

export type MailOptions = {
  readonly stores: Pick<Stores, 'database' | 'signals'>;
  readonly settings: Settings;
  readonly vault: Vault;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly newId: () => string;
};

export type ComposedMail = {
  readonly mailer: Mailer;
  /** Begins to deliver (role `worker`). @returns how to stop it */
  startWorker(): () => Promise<void>;
};

/** Puts mail together: over SMTP where a relay is set, into the outbox in development, nowhere else. */
export function composeMail({ stores, settings, vault, logger, now, newId }: MailOptions): ComposedMail {
  const { smtpHost: host, smtpPort: port, smtpFrom: from, smtpUser: user, smtpPassword: password } = settings;
  const nothingToDo = () => () => Promise.resolve();
  if (host === undefined || from === undefined) {
    const mailer = settings.appEnv === 'development' ? createOutbox({ directory: join(resolve(settings.dataDir), 'outbox'), logger, now, newId }) : withoutMail(logger);
    return { mailer, startWorker: nothingToDo };
  }
  const queue = createPostgresMailQueue({ database: stores.database });
  return {
    mailer: createQueuedMailer({ queue, vault, signals: stores.signals, now, newId }),
    startWorker() {
      const relay = createSmtpRelay({ host, port, from, credentials: user === undefined || password === undefined ? undefined : { user, password } });
      const worker = createMailWorker({ queue, relay, vault, signals: stores.signals, logger, now });
      worker.start();
      return () => worker.stop();
    },
  };
}

function withoutMail(logger: Logger): Mailer {
  return {
    configured: false,
    send({ withheld }) {
      if (!withheld) logger.warn('a mail was dropped: SMTP_HOST is unset');
      return Promise.resolve();
    },
  };
}
