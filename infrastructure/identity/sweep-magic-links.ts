import type { MagicLinks } from '../../application/ports/magic-links.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export type SweepMagicLinksOptions = {
  /** Minutes that a link is kept after it stopped working. */
  readonly tokenRetentionMinutes: number;
  /** Days that the history of sign-ins is kept; 0 keeps it forever. */
  readonly retentionDays: number;
};

/** Deletes links that no longer work, and old sign-ins from their history. @returns the number of deleted rows */
export async function sweepMagicLinks(
  { tokenRetentionMinutes, retentionDays }: SweepMagicLinksOptions,
  { magicLinks, now }: { readonly magicLinks: Pick<MagicLinks, 'sweep' | 'sweepHistory'>; readonly now: () => Date },
): Promise<number> {
  const at = now();
  const links = await magicLinks.sweep(new Date(at.getTime() - tokenRetentionMinutes * MINUTE_MS), at);
  if (retentionDays <= 0) return links;
  return links + (await magicLinks.sweepHistory(new Date(at.getTime() - retentionDays * DAY_MS)));
}
