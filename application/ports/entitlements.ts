import type { Capability } from '../../domain/platform/license.ts';

/** What the license of this install names (spec 1, gating rules). */
export type Entitlements = {
  /** Whether a paid capability, such as `apikey-pro`, is in force now (grace included). Ask again for every decision: a license ends and is renewed while the service runs. */
  has(capability: Capability): boolean;
  /** Where to buy more; `links.upgrade` of the license. */
  readonly upgradeUrl: string;
};

/** The free tier. */
export const FREE_TIER: Entitlements = { has: () => false, upgradeUrl: 'https://palimpsest.example/upgrade' };
