import type { LicenseHolder } from '../../application/platform/license-holder.ts';
import { createLicenseHolder } from '../../application/platform/license-holder.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { BUILT_IN_LICENSE_KEY } from '../license/built-in-key.ts';
import { createLicenseVerifier } from '../license/verify-license.ts';

export type LicenseOptions = {
  readonly settings: Pick<Settings, 'licenseKey' | 'licensePublicKey'>;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Puts the license together (spec 1, license). */
export async function composeLicense({ settings, logger, now }: LicenseOptions): Promise<LicenseHolder> {
  const holder = createLicenseHolder({ now });
  const verify = await createLicenseVerifier({ publicKey: settings.licensePublicKey ?? BUILT_IN_LICENSE_KEY });
  const { licenseKey } = settings;
  if (licenseKey === undefined) return holder;
  const license = await verify(licenseKey);
  if (license) holder.hold(license);
  else logger.error('license verification failed: the free tier runs');
  return holder;
}
