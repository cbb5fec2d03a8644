import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const NOT_OURS = new Set(['.git', '.cache', '.palimpsest', 'node_modules', 'dist', 'coverage']);

/** Paths of the project's files: those that git keeps or would keep, else (without git) all that are not generated. */
export function ownFiles(): readonly string[] {
  try {
    return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim().split('\n');
  } catch {
    return walk('.').map((path) => path.slice(2));
  }
}

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
  });
}
