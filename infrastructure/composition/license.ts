import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LicenseHolder } from '../../application/platform/license-holder.ts';
import { createLicenseHolder } from '../../application/platform/license-holder.ts';
import type { Licensing } from '../../application/platform/licensing.ts';
import { createLicensing } from '../../application/platform/licensing.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createExclusive } from '../identity/exclusive.ts';
import { BUILT_IN_LICENSE_KEY } from '../license/built-in-key.ts';
import { createLicenseExchange } from '../license/exchange-license.ts';
import { createLicenseCache } from '../license/license-cache.ts';
import { createLicenseStore } from '../license/license-store.ts';
import { createLicenseVerifier } from '../license/verify-license.ts';
import { createOutbound } from '../outbound/outbound.ts';
import type { Stores } from './stores.ts';

/** Calls back at intervals until told to stop. */
export type Every = (ms: number, work: () => Promise<void>) => () => void;

export type LicenseOptions = {
  readonly stores: Pick<Stores, 'database' | 'signals'>;
  readonly settings: Settings;
  readonly vault: Vault;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly every: Every;
  /** False: a build without license support. */
  readonly licenseModule: boolean;
};

export type License = {
  readonly holder: LicenseHolder;
  /** Undefined in a build without license support. */
  readonly licensing: Licensing | undefined;
  close(): Promise<void>;
};

const CHECK_MS = 6 * 3_600_000;
/** A start waits so long for the license server; its answer counts later too. */
const START_WAIT_MS = 1_500;
/** The operator chose the server, so it may stand in the house's own network; metadata services stay out of reach. */
const SERVER_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const LOOPBACK = ['127.0.0.0/8', '::1'];

/** Puts the license together, and keeps it up to date while the service runs (spec 1, license). */
export async function composeLicense(options: LicenseOptions): Promise<License> {
  const { stores, settings, vault, logger, now, every, licenseModule } = options;
  const holder = createLicenseHolder({ now });
  if (!licenseModule) {
    if (settings.licenseKey !== undefined) logger.warn('this build has no license support: SVC_LICENSE_KEY is passed over');
    return { holder, licensing: undefined, close: () => Promise.resolve() };
  }
  const { licenseServerUrl: serverUrl } = settings;
  const outbound = serverUrl === undefined ? undefined : createOutbound({ allowedPrivateNetworks: [...SERVER_NETWORKS, ...(settings.appEnv === 'production' ? [] : LOOPBACK)] });
  const closing = new AbortController();
  const store = createLicenseStore({ database: stores.database, signals: stores.signals, exclusive: createExclusive({ database: stores.database }), vault, logger });
  const licensing = createLicensing({
    holder, store, logger, now,
    verify: await createLicenseVerifier({ publicKey: settings.licensePublicKey ?? BUILT_IN_LICENSE_KEY }),
    exchange: serverUrl === undefined || !outbound ? undefined : createLicenseExchange({ serverUrl, outbound, signal: closing.signal }),
    cache: createLicenseCache({ directory: settings.licenseCacheDir ?? join(settings.dataDir, 'license') }),
    digest: (licenseKey) => vault.digest('license-key', licenseKey),
    configuredKey: settings.licenseKey,
    newInstallId: () => randomUUID(),
  });
  const checking = new Set<Promise<void>>();
  function check(): Promise<void> {
    const mine = licensing.check().finally(() => checking.delete(mine));
    checking.add(mine);
    return mine;
  }
  const stopListening = store.onSaved(() => {
    licensing.reload().catch((error: unknown) => {
      logger.warn('the license was not read again', { reason: error instanceof Error ? error.message : String(error) });
    });
  });
  await licensing.reload();
  await Promise.race([check(), pause(START_WAIT_MS, undefined, { ref: false })]);
  const stopChecking = every(CHECK_MS, check);
  return {
    holder,
    licensing,
    async close() {
      stopListening();
      stopChecking();
      closing.abort();
      await Promise.all([outbound?.close(), ...checking]);
    },
  };
}
