import type { CommandContext } from '../../domain/context.ts';
import { paymentRequired } from '../platform/gates.ts';
import type { Entitlements } from '../ports/entitlements.ts';

/** Which revisions of an entry may be looked at and restored. */
export type RevisionWindow = {
  /** Whether a revision made at this moment (RFC 3339, UTC, milliseconds) is to be had; the current one always is. */
  readonly holds: (madeAt: string) => boolean;
  /** What asking for one outside answers: `payment_required`. */
  readonly refuse: () => Error;
};

const FREE_DAYS = 30;
const DAY_MS = 86_400_000;

/** Every revision with `content-pro`, else those of the last 30 days (spec 1, capabilities; spec 4 A, revisions). */
export function revisionWindow(entitlements: Entitlements, { now }: Pick<CommandContext, 'now'>): RevisionWindow {
  const refuse = (): Error => paymentRequired({ plugin: 'content', feature: 'content-pro' }, entitlements);
  if (entitlements.has('content-pro')) return { holds: () => true, refuse };
  const since = new Date(now().getTime() - FREE_DAYS * DAY_MS).toISOString();
  return { holds: (madeAt) => madeAt >= since, refuse };
}
