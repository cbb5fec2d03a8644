import { type License, type LicensePhase, phaseOf } from '../../domain/platform/license.ts';
import { type Entitlements, FREE_TIER } from '../ports/entitlements.ts';

/**
 * The license in force in this process. Entitlements depend on the current time, because the license may expire while
 * the process runs.
 */
export type LicenseHolder = {
  readonly entitlements: Entitlements;
  /** The current license, even when it has lapsed; undefined without a license. */
  current(): { readonly license: License; readonly phase: LicensePhase } | undefined;
  /** Replaces the license; undefined: the free tier. */
  hold(license: License | undefined): void;
};

/** Starts without a license, which means the free tier. */
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
