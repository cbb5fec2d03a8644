import { join, resolve } from 'node:path';
import { createMailWorker } from '../../application/platform/mail-worker.ts';
import { createQueuedMailer } from '../../application/platform/queued-mailer.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { createFileMailer } from '../mail/file-mailer.ts';
import { createPostgresMailQueue } from '../mail/postgres-mail-queue.ts';
import { createSmtpTransport } from '../mail/smtp-transport.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type MailModule = Module & { readonly mailer: Mailer };

/** Mail: queued and sent over SMTP when `SMTP_HOST` is set, written to files in development, else dropped. */
export function composeMail({ database, signals, settings, vault, logger, now, newId }: Platform): MailModule {
  const { smtpHost: host, smtpPort: port, smtpFrom: from, smtpUser: user, smtpPassword: password } = settings;
  const { smtpStartTls: startTls } = settings;
  if (host === undefined || from === undefined) {
    const mailer =
      settings.appEnv === 'development'
        ? createFileMailer({ directory: join(resolve(settings.dataDir), 'outbox'), logger, now, newId })
        : droppingMailer(logger);
    return { ...EMPTY_MODULE, mailer };
  }
  const queue = createPostgresMailQueue({ database });
  return {
    ...EMPTY_MODULE,
    mailer: createQueuedMailer({ queue, vault, signals, now, newId }),
    workers: [
      {
        name: 'mail',
        role: 'worker',
        start() {
          const credentials = user === undefined || password === undefined ? undefined : { user, password };
          const transport = createSmtpTransport({ host, port, from, credentials, startTls });
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
