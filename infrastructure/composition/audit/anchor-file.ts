import { open, readFile } from 'node:fs/promises';
import type { RecordedEvent } from '../../../domain/event.ts';

/**
 * Appends the audit signatures among the events to a file, one JSON object `{tenant, position, jws}` a line, and waits
 * until they are on disk. A repeated batch repeats its lines, which is harmless.
 */
export async function appendAnchors(
  events: readonly RecordedEvent[],
  { path }: { readonly path: string },
): Promise<void> {
  const lines = events.flatMap(({ type, data, position, metadata }) =>
    type === 'AuditSealed' && typeof data['jws'] === 'string'
      ? [`${JSON.stringify({ tenant: metadata.tenant, position, jws: data['jws'] })}\n`]
      : [],
  );
  if (lines.length === 0) return;
  const file = await open(path, 'a', 0o600);
  try {
    // A crash may have left part of a line before.
    await file.appendFile(`\n${lines.join('')}`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The lines of a file of anchors. */
export type AnchorFile = {
  /** Audit signatures, as compact JWS. */
  readonly anchors: readonly string[];
  /** Number of lines without a signature, such as part of a line that a crash left. */
  readonly unreadable: number;
};

/**
 * Reads the signatures of a file that `appendAnchors` wrote, or of one with a value of the topic of signatures in each
 * line. Empty lines are skipped.
 * @throws Error when the file has no signature
 */
export async function readAnchorFile(path: string): Promise<AnchorFile> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const anchors = lines.flatMap((line) => jwsOf(line) ?? []);
  if (anchors.length === 0) throw new Error(`${path} has no line with an audit signature`);
  return { anchors, unreadable: lines.length - anchors.length };
}

function jwsOf(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('jws' in value)) return undefined;
    return typeof value.jws === 'string' ? value.jws : undefined;
  } catch {
    return undefined;
  }
}
