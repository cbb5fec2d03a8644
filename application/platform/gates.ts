import type { AppError } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { Capability } from '../../domain/platform/license.ts';
import type { Entitlements } from '../ports/entitlements.ts';

/** A paid part: the feature it belongs to, and the capability that opens it. */
export type PaidPart = { readonly plugin: string; readonly feature: Capability };

/** A count ceiling: its name (such as `apikey.keys`), what is free, what is there. */
export type Ceiling = { readonly cap: string; readonly limit: number; readonly current: number };

/** 402 for a paid part of a free feature (spec 1, gating rules 2): `throw paymentRequired({ plugin: 'webhook', feature: 'webhook-pro' }, entitlements)`. */
export function paymentRequired({ plugin, feature }: PaidPart, { upgradeUrl }: Pick<Entitlements, 'upgradeUrl'>): AppError {
  return refusal('payment_required', { body: { plugin, feature: `feature:${feature}`, upgrade_url: upgradeUrl } });
}

/** 402 for a count ceiling (spec 1, gating rules 3). */
export function capExceeded({ cap, limit, current }: Ceiling, { upgradeUrl }: Pick<Entitlements, 'upgradeUrl'>): AppError {
  return refusal('cap_exceeded', { body: { cap, limit, current, upgrade_url: upgradeUrl } });
}

/** @throws `payment_required` unless the license opens the part */
export function requirePaid(part: PaidPart, entitlements: Entitlements): void {
  if (!entitlements.has(part.feature)) throw paymentRequired(part, entitlements);
}
