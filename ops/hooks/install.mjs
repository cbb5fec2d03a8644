// Run by `npm install` in a checkout: makes git use the hooks of this folder. It changes nothing in continuous
// integration (CI is set), outside the work tree of this repository (tarball, image build), and where core.hooksPath
// is already set. It never fails an installation.
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('../../', import.meta.url)));

if (!process.env.CI && git('rev-parse', '--show-toplevel') === root && git('config', 'core.hooksPath') === undefined)
  git('config', '--local', 'core.hooksPath', 'ops/hooks');

/** Runs git in this folder. @returns its trimmed output; undefined when it fails or git is not installed */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
