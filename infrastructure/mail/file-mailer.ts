import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../application/ports/logger.ts';
import type { Mailer } from '../../application/ports/mailer.ts';

export type FileMailerOptions = {
  /** `<SVC_DATA_DIR>/outbox`. */
  readonly directory: string;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly newId: () => string;
};

/**
 * Creates the mailer for development. It writes each mail to a file that only the owner can read, and logs the path of
 * the file. The file is complete when `send` resolves. File names sort by time.
 */
export function createFileMailer({ directory, logger, now, newId }: FileMailerOptions): Mailer {
  return {
    configured: true,
    async send({ to, subject, text, withheld }) {
      if (withheld) return;
      const at = now();
      const name = `${at.toISOString().replaceAll(':', '-')}-${newId()}.eml`;
      const head = [
        `Date: ${at.toUTCString()}`,
        `To: ${to}`,
        `Subject: ${subject}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
      ];
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const unfinished = join(directory, `.${name}`);
      await writeFile(unfinished, `${head.join('\n')}\n\n${text}\n`, { mode: 0o600, flag: 'wx' });
      await rename(unfinished, join(directory, name));
      logger.warn('a mail was written to the outbox', { file: join(directory, name), subject });
    },
  };
}
