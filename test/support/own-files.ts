import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const IGNORED = new Set(['.git', '.cache', '.palimpsest', 'node_modules', 'dist', 'coverage']);

/**
 * Paths of the project's files: tracked files and new files that git does not ignore. Without git, all but generated
 * files.
 */
export function ownFiles(): readonly string[] {
  try {
    return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim()
      .split('\n');
  } catch {
    return walk('.').map((path) => path.slice(2));
  }
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
  });
}

/** Text of a file. Empty when the file was deleted after the listing. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
