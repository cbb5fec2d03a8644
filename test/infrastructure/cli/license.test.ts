import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '../../../domain/durations.ts';
import { useDirectory } from '../../support/directory.ts';
import { runCommand } from '../../support/process.ts';

describe('palimpsest license', () => {
  const directory = useDirectory();
  const license = (...args: readonly string[]) => runCommand(['license', ...args], {});
  const keyFile = () => join(directory(), 'key.json');

  it('creates keys, issues a license with them and verifies it; another key rejects the license', async () => {
    const keys = await license('keygen');
    const { public_key: publicKey } = JSON.parse(keys.output) as { public_key: string };
    await writeFile(keyFile(), keys.output);
    const issued = await license(
      'issue',
      '--private-key',
      keyFile(),
      '--subject',
      'acme',
      '--capabilities',
      'flow-pro, media-pro',
      '--days',
      '10',
      '--plan',
      'team',
      '--link',
      'upgrade=https://buy.test/?a=b',
    );
    expect(issued.code).to.equal(0);
    const inspected = await license('inspect', issued.output.trim(), '--public-key', publicKey);
    expect(inspected.code).to.equal(0);
    const printed = JSON.parse(inspected.output) as { issued_at: string; expires_at: string };
    expect(printed).to.deep.include({
      subject: 'acme',
      plan: 'team',
      capabilities: ['flow-pro', 'media-pro'],
      links: { upgrade: 'https://buy.test/?a=b' },
      state: 'active',
    });
    expect(Date.parse(printed.expires_at) - Date.parse(printed.issued_at)).to.equal(10 * DAY_MS);
    const withOtherKey = await license('inspect', issued.output.trim());
    expect([withOtherKey.code, withOtherKey.output]).to.deep.equal([1, 'license: verification failed\n']);
  });

  it('prints its usage: exit code 0 on --help, 2 for wrong arguments', async () => {
    const help = await license('--help');
    expect([help.code, help.output.split('\n')[0]]).to.deep.equal([0, 'usage: palimpsest license <command> [options]']);
    await writeFile(keyFile(), JSON.stringify({ private_key: 'x'.repeat(43) }));
    const misuses: readonly (readonly string[])[] = [
      [],
      ['sign'],
      ['inspect'],
      ['issue'],
      ['issue', '--private-key', keyFile(), '--subject', 'a'],
      ['issue', '--private-key', keyFile(), '--subject', 'a', '--capabilities', 'teleport-pro'],
    ];
    const answers = await Promise.all(misuses.map((args) => license(...args)));
    expect(answers.map(({ code }) => code)).to.deep.equal(misuses.map(() => 2));
    for (const { output } of answers) expect(output).to.contain('usage: palimpsest license');
  });
});
