import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useDirectoryPerTest } from '../support/directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Accepts every TypeScript file without a `debugger` statement. */
const LINT = `import tseslint from 'typescript-eslint';
export default tseslint.config({ files: ['**/*.ts'], extends: [tseslint.configs.base], rules: { 'no-debugger': 'error' } });
`;

describe('the git hooks', function () {
  this.timeout(60_000);
  const directory = useDirectoryPerTest();
  /** A repository with the hooks of this one. */
  let clone = '';

  beforeEach(async () => {
    clone = join(directory(), 'clone');
    await mkdir(clone);
    git('init', '--quiet');
    await copyHooks(clone);
  });

  const copyHooks = (folder: string) => cp(join(root, 'ops/hooks'), join(folder, 'ops/hooks'), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(clone, name), text);

  /** Without the variables of a git command that runs this test, and without the user's settings. */
  const environment = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test@example.org',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test@example.org',
  };
  function git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: clone, encoding: 'utf8', env: environment }).trim();
  }
  function commit(): { readonly status: number | null; readonly output: string } {
    const options = { cwd: clone, encoding: 'utf8', env: environment } as const;
    const { status, stdout, stderr } = spawnSync('git', ['commit', '--quiet', '-m', 'change'], options);
    return { status, output: stdout + stderr };
  }
  const install = (folder = clone, env: Readonly<Record<string, string>> = {}) =>
    execFileSync(process.execPath, [join(folder, 'ops/hooks/install.mjs')], { env: { ...environment, ...env } });
  const hooksPath = () => git('config', '--default', '', 'core.hooksPath');

  describe('npm install', () => {
    it('activates them in a clone', () => {
      install();
      expect(hooksPath()).to.equal('ops/hooks');
    });

    it('does not change git in continuous integration', () => {
      install(clone, { CI: 'true' });
      expect(hooksPath()).to.equal('');
    });

    it('does not replace hooks that the user has chosen', () => {
      git('config', 'core.hooksPath', 'other');
      install();
      expect(hooksPath()).to.equal('other');
    });

    it('does not change the repository around an unpacked tarball', async () => {
      await copyHooks(join(clone, 'vendor/palimpsest'));
      install(join(clone, 'vendor/palimpsest'));
      expect(hooksPath()).to.equal('');
    });

    it('succeeds outside a repository and without git', async () => {
      await copyHooks(join(directory(), 'tarball'));
      install(join(directory(), 'tarball'));
      install(clone, { PATH: '/nonexistent' });
      expect(hooksPath()).to.equal('');
    });
  });

  describe('a commit', () => {
    beforeEach(async () => {
      install();
      await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
      await write('eslint.config.js', LINT);
      await write('.gitignore', 'node_modules\nops\neslint.config.js\n');
    });

    it('contains formatted files', async () => {
      await write('a.json', '{"a":1}');
      git('add', '.');
      expect(commit()).to.deep.include({ status: 0 });
      expect(git('show', 'HEAD:a.json')).to.equal('{ "a": 1 }');
      expect(await readFile(join(clone, 'a.json'), 'utf8')).to.equal('{ "a": 1 }\n');
    });

    it('is refused when a badly formatted file has unstaged changes too, which stay unstaged', async () => {
      await write('a.json', '{"a":1}');
      git('add', '.');
      await write('a.json', '{"a":2}');
      const { status, output } = commit();
      expect(status).to.equal(1);
      expect(output).to.contain('a.json').and.contain('npm run format');
      expect(git('diff', '--name-only')).to.equal('a.json');
    });

    it('is refused when a staged source has a lint error', async () => {
      await write('a.ts', 'debugger;\n');
      git('add', '.');
      const { status, output } = commit();
      expect(status).to.equal(1);
      expect(output).to.contain('no-debugger').and.contain('pre-commit: fix the lint errors');
    });

    it('is refused with an instruction when the packages are not installed', async () => {
      await rm(join(clone, 'node_modules'));
      await write('a.json', '{}\n');
      git('add', '.');
      expect(commit().output).to.contain('run `npm install`');
    });
  });

  describe('a commit message', () => {
    beforeEach(async () => {
      install();
      await write('notes.md', '# Notes\n');
      await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
      git('add', 'notes.md');
    });
    const committed = (...paragraphs: readonly string[]) => {
      const messages = paragraphs.flatMap((paragraph) => ['-m', paragraph]);
      const options = { cwd: clone, encoding: 'utf8', env: environment } as const;
      const { status, stderr } = spawnSync('git', ['commit', '--quiet', '--allow-empty', ...messages], options);
      return { status, stderr };
    };

    it('is accepted with a short subject and a body', () => {
      expect(committed('Bound the size of answers', 'A list ended the process.')).to.include({ status: 0 });
    });

    for (const [what, paragraphs, reason] of [
      [
        'a subject of more than 72 characters',
        ['x'.repeat(73)],
        'the subject has 73 characters, at most 72 are allowed',
      ],
      ['a period after the subject', ['Bound it.'], 'the subject ends with a period'],
      ['no empty line after the subject', ['Bound it\nat once'], 'the second line is not empty'],
      ['a long line', ['Bound it', 'x'.repeat(101)], 'a line of the body has more than 100 characters'],
    ] as const)
      it(`is refused with ${what}`, () => {
        const { status, stderr } = committed(...paragraphs);
        expect(status).to.equal(1);
        expect(stderr).to.include(`commit-msg: ${reason}`);
      });
  });
});
