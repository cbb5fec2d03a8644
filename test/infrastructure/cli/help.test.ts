import { expect } from 'chai';
import { runCommand } from '../../support/process.ts';

describe('palimpsest --help', () => {
  it('lists every command, and each command prints its usage without running', async function () {
    // Starts a process for each command.
    this.timeout(120_000);
    const { code, output } = await runCommand(['--help'], {});
    expect(code).to.equal(0);
    const commands = [...output.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name ?? '');
    expect(commands).to.include.members([
      'start',
      'serve',
      'config',
      'license',
      'rebuild',
      'replay',
      'copy-events',
      'verify-audit',
      'openapi',
      'types',
    ]);
    const helps = await Promise.all(commands.map((name) => runCommand([name, '--help'], {})));
    for (const [index, help] of helps.entries()) {
      const name = commands[index] ?? '';
      // The options, and then the summary after a colon or in lines of its own.
      expect([help.code, help.output], name).to.deep.equal([0, help.output]);
      expect(help.output).to.match(new RegExp(`^usage: palimpsest ${name}(?:(?: [^:]+)?: |.*\\n\\n)`));
    }
  });

  it('exits with 2 for an unknown command', async () => {
    const { code, output } = await runCommand(['no-such-command'], {});
    expect(code).to.equal(2);
    expect(output).to.contain('there is no command no-such-command');
  });
});
