import { type AppError, refusal } from '../../domain/errors.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { Entitlements } from '../ports/entitlements.ts';

/** A paid part of a feature: the feature, and the capability that unlocks the part. */
export type PaidPart = { readonly plugin: string; readonly feature: Capability };

/** A limit of the free tier: its name (such as `apikey.keys`), the limit, and the current number. */
export type FreeLimit = { readonly cap: string; readonly limit: number; readonly current: number };

type RefusalDependencies = { readonly entitlements: Pick<Entitlements, 'upgradeUrl'> };

/** Refusal of a paid part without its capability, such as `{ plugin: 'webhook', feature: 'webhook-pro' }`. */
export function paymentRequired({ plugin, feature }: PaidPart, { entitlements }: RefusalDependencies): AppError {
  return refusal('payment_required', {
    body: { plugin, feature: `feature:${feature}`, upgrade_url: entitlements.upgradeUrl },
  });
}

/** Refusal of a command that would exceed a limit of the free tier. */
export function capExceeded({ cap, limit, current }: FreeLimit, { entitlements }: RefusalDependencies): AppError {
  return refusal('cap_exceeded', { body: { cap, limit, current, upgrade_url: entitlements.upgradeUrl } });
}

/** @throws `payment_required` unless the license grants the capability */
export function requirePaid(part: PaidPart, { entitlements }: { readonly entitlements: Entitlements }): void {
  if (!entitlements.has(part.feature)) throw paymentRequired(part, { entitlements });
}
