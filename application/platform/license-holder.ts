import type { License, LicensePhase } from '../../domain/platform/license.ts';
import { phaseOf } from '../../domain/platform/license.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import { FREE_TIER } from '../ports/entitlements.ts';

/** The license that this process goes by. What it grants is computed anew at every question, for it ends while the service runs. */
export type LicenseHolder = {
  readonly entitlements: Entitlements;
  /** The license held, also one that has lapsed. */
  current(): { readonly license: License; readonly phase: LicensePhase } | undefined;
  /** Goes by another license from now on; undefined: the free tier. */
  hold(license: License | undefined): void;
};

/** Starts with the free tier. */
export function createLicenseHolder({ now }: { readonly now: () => Date }): LicenseHolder {
  let held: License | undefined;
  let granted: ReadonlySet<string> = new Set();
  return {
    entitlements: {
      has: (capability) => held !== undefined && granted.has(capability) && phaseOf(held, now()) !== 'lapsed',
      get upgradeUrl() {
        return held?.links['upgrade'] ?? FREE_TIER.upgradeUrl;
      },
    },
    current: () => held && { license: held, phase: phaseOf(held, now()) },
    hold(license) {
      held = license;
      granted = new Set(license?.capabilities);
    },
  };
}
