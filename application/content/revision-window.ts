import type { CommandContext } from '../../domain/context.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { paymentRequired } from '../platform/license-refusals.ts';
import type { Entitlements } from '../ports/entitlements.ts';

/** The revisions of an entry that the license allows to read and restore. */
export type RevisionWindow = {
  /**
   * Whether a revision created at this time (RFC 3339, UTC, milliseconds) is allowed. The current revision always is.
   */
  readonly holds: (madeAt: string) => boolean;
  /** The refusal of a revision outside the window: `payment_required`. */
  readonly refusal: () => Error;
};

const FREE_DAYS = 30;

/** Allows all revisions with the entitlement `content-pro`, otherwise those of the last 30 days. */
export function revisionWindow(
  { now }: Pick<CommandContext, 'now'>,
  { entitlements }: { readonly entitlements: Entitlements },
): RevisionWindow {
  const refusal = (): Error => paymentRequired({ plugin: 'content', feature: 'content-pro' }, { entitlements });
  if (entitlements.has('content-pro')) return { holds: () => true, refusal };
  const since = new Date(now().getTime() - FREE_DAYS * DAY_MS).toISOString();
  return { holds: (madeAt) => madeAt >= since, refusal };
}
