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
  let currentLicense: License | undefined;
  let granted: ReadonlySet<string> = new Set();
  return {
    entitlements: {
      has: (capability) =>
        currentLicense !== undefined && granted.has(capability) && phaseOf(currentLicense, now()) !== 'lapsed',
      get upgradeUrl() {
        return currentLicense?.links['upgrade'] ?? FREE_TIER.upgradeUrl;
      },
    },
    current: () => currentLicense && { license: currentLicense, phase: phaseOf(currentLicense, now()) },
    hold(license) {
      currentLicense = license;
      granted = new Set(license?.capabilities);
    },
  };
}
