import type { Capability } from '../../domain/platform/license.ts';

/** The capabilities that the license of this installation grants. */
export type Entitlements = {
  /**
   * Whether a paid capability, such as `apikey-pro`, is in force, including the grace period. Call it for each
   * decision: a license may end or be renewed while the process runs.
   */
  has(capability: Capability): boolean;
  /** Address where the license can be upgraded; `links.upgrade` of the license. */
  readonly upgradeUrl: string;
};

/** The entitlements without a license. */
export const FREE_TIER: Entitlements = { has: () => false, upgradeUrl: 'https://palimpsest.example/upgrade' };
