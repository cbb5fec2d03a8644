import { expect } from 'chai';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { createFileMailer } from '../../../infrastructure/mail/file-mailer.ts';
import { useDirectoryPerTest } from '../../support/directory.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const MAIL = {
  to: 'zoe@people.palimpsest.test',
  subject: 'Sign in',
  text: 'https://console.test/auth/magic-link/verify?token=abc=&def',
} as const;

describe('the outbox', () => {
  const parent = useDirectoryPerTest();
  let directory = '';
  beforeEach(() => {
    directory = join(parent(), 'outbox');
  });

  it('writes each mail to a file that only its owner can read, named by the time', async () => {
    let at = Date.parse('2030-01-01T00:00:00Z');
    const outbox = createFileMailer({
      directory,
      logger: recordingLogger(),
      now: () => new Date((at += 1000)),
      newId: v7,
    });
    await outbox.send(MAIL);
    await outbox.send({ ...MAIL, subject: 'second' });
    const names = await readdir(directory);
    expect(names).to.have.length(2);
    const [first = '', second = ''] = names.sort();
    expect(await readFile(join(directory, first), 'utf8'))
      .to.contain(`To: ${MAIL.to}\n`)
      .and.contain('Subject: Sign in\n')
      .and.contain(`\n\n${MAIL.text}\n`);
    expect(await readFile(join(directory, second), 'utf8')).to.contain('Subject: second\n');
    expect((await stat(join(directory, first))).mode & 0o777).to.equal(0o600);
    expect((await stat(directory)).mode & 0o777).to.equal(0o700);
  });

  it('logs the path of the file, without address and link', async () => {
    const logger = recordingLogger();
    await createFileMailer({ directory, logger, now: () => new Date(), newId: v7 }).send(MAIL);
    expect(logger.lines).to.have.length(1);
    const line = JSON.stringify(logger.lines);
    expect(line).to.contain(directory).and.not.to.contain('zoe').and.not.to.contain('token=');
  });

  it('writes no file and no log line for a withheld mail', async () => {
    const logger = recordingLogger();
    await createFileMailer({ directory, logger, now: () => new Date(), newId: v7 }).send({ ...MAIL, withheld: true });
    expect(logger.lines).to.deep.equal([]);
    expect(await readdir(parent())).to.deep.equal([]);
  });
});
