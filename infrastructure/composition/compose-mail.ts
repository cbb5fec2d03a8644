import { createMailWorker } from '../../application/platform/mail-worker.ts';
import { createQueuedMailer } from '../../application/platform/queued-mailer.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { createFileMailer } from '../mail/file-mailer.ts';
import { createMailQueue } from '../mail/mail-queue.ts';
import { openSmtpTransport } from '../mail/smtp-transport.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import { outboxDirectory } from './outbox-directory.ts';
import type { Platform } from './platform/platform.ts';

export type MailModule = Module & { readonly mailer: Mailer };

/** Mail: queued and sent over SMTP when `SMTP_HOST` is set, written to files in development, else dropped. */
export function composeMail({ database, signals, settings, vault, logger, now, newId }: Platform): MailModule {
  const { smtpHost: host, smtpPort: port, smtpFrom: from, smtpUser: user, smtpPassword: password } = settings;
  const { smtpStartTls: startTls } = settings;
  if (host === undefined || from === undefined) {
    const directory = outboxDirectory(settings);
    const mailer =
      directory === undefined ? droppingMailer(logger) : createFileMailer({ directory, logger, now, newId });
    return { ...EMPTY_MODULE, mailer };
  }
  const queue = createMailQueue({ database });
  return {
    ...EMPTY_MODULE,
    mailer: createQueuedMailer({ queue, vault, signals, now, newId }),
    workers: [
      {
        name: 'mail',
        role: 'worker',
        start() {
          const credentials = user === undefined || password === undefined ? undefined : { user, password };
          const transport = openSmtpTransport({ host, port, from, credentials, startTls });
          const worker = createMailWorker({ queue, transport, vault, signals, logger, now });
          worker.start();
          return Promise.resolve(worker);
        },
      },
    ],
  };
}

function droppingMailer(logger: Logger): Mailer {
  return {
    configured: false,
    send({ withheld }) {
      if (!withheld) logger.warn('a mail was dropped: SMTP_HOST is unset');
      return Promise.resolve();
    },
  };
}
