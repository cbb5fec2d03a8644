import { readFile, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decryptMail } from '../../application/platform/queued-mailer.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

type Row = { readonly id: string; readonly content: SealedValue; readonly queued_at: Date };

/** Queued mails to a person. The recipient is sealed with the mail, so all queued mails are opened to find them. */
export function createPersonalQueuedMails({
  database,
  vault,
}: {
  readonly database: Database;
  readonly vault: Pick<Vault, 'openSecret'>;
}): PersonalRecords {
  async function mailsTo(email: string) {
    const rows = await database.query<Row>(
      'select id, content, queued_at from operational.mail_queue order by queued_at',
    );
    return rows.flatMap(({ id, content, queued_at: at }) => {
      const mail = decryptMail({ id, content }, { vault });
      return mail?.to === email ? [{ id, mail, at }] : [];
    });
  }
  return {
    kind: 'queued_mails',
    list: async ({ email }) =>
      (await mailsTo(email))
        .filter(({ mail }) => !mail.withheld)
        .map(({ mail, at }) => ({ subject: mail.subject, queued_at: at.toISOString() })),
    erase: async ({ email }) =>
      database.execute('delete from operational.mail_queue where id = any($1::uuid[])', [
        (await mailsTo(email)).map(({ id }) => id),
      ]),
  };
}

/** Mails to a person in the outbox of development. `directory` is the outbox. */
export function createPersonalOutbox({ directory }: { readonly directory: string }): PersonalRecords {
  async function filesTo(email: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
    const names = await readdir(directory).catch(() => []);
    const mails = await Promise.all(
      names
        .filter((name) => name.endsWith('.eml'))
        .toSorted()
        .map(async (name) => ({ name, text: await readFile(join(directory, name), 'utf8').catch(() => '') })),
    );
    return mails.filter(({ text }) => text.toLowerCase().includes(`\nto: ${email}\n`));
  }
  return {
    kind: 'outbox_mails',
    list: async ({ email }) =>
      (await filesTo(email)).map(({ text }) => ({ subject: /^Subject: (.*)$/m.exec(text)?.[1] ?? '' })),
    async erase({ email }) {
      const files = await filesTo(email);
      await Promise.all(files.map(({ name }) => unlink(join(directory, name))));
      return files.length;
    },
  };
}
