import type { MagicLinks } from '../../application/ports/magic-links.ts';
import { DAY_MS } from '../../domain/durations.ts';

const MINUTE_MS = 60_000;

export type SweepMagicLinksInput = {
  /** Minutes that a link is kept after it stopped working. */
  readonly tokenRetentionMinutes: number;
  /** Days that the history of sign-ins is kept; 0 keeps it forever. */
  readonly retentionDays: number;
};

/** Deletes links that no longer work, and old sign-ins from their history. @returns the number of deleted rows */
export async function sweepMagicLinks(
  { tokenRetentionMinutes, retentionDays }: SweepMagicLinksInput,
  { now }: { readonly now: () => Date },
  { magicLinks }: { readonly magicLinks: Pick<MagicLinks, 'sweep' | 'sweepHistory'> },
): Promise<number> {
  const at = now();
  const links = await magicLinks.sweep(new Date(at.getTime() - tokenRetentionMinutes * MINUTE_MS), at);
  if (retentionDays <= 0) return links;
  return links + (await magicLinks.sweepHistory(new Date(at.getTime() - retentionDays * DAY_MS)));
}
