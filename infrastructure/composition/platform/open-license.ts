import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { withDeadline } from '../../../application/concurrency/with-deadline.ts';
import { type LicenseHolder, createLicenseHolder } from '../../../application/platform/license-holder.ts';
import { type Licensing, createLicensing } from '../../../application/platform/licensing.ts';
import type { ExchangeLicense } from '../../../application/ports/license-exchange.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { BUILT_IN_LICENSE_KEY } from '../../license/built-in-key.ts';
import { createLicenseExchange } from '../../license/exchange-license.ts';
import { createLicenseCache } from '../../license/license-cache.ts';
import { LICENSE_MODULE } from '../../license/license-module.ts';
import { createLicenseStore } from '../../license/license-store.ts';
import { createLicenseVerifier } from '../../license/verify-license.ts';
import { loopbackNetworks } from '../../outbound/loopback-networks.ts';
import { openOutbound } from '../../outbound/outbound.ts';
import { openParts } from '../open-parts.ts';
import type { Every } from './at-intervals.ts';
import type { OpenStores } from './open-stores.ts';

export type LicenseOptions = Pick<OpenStores, 'database' | 'exclusive' | 'signals'> & {
  /** Whether this build supports licenses. Default: a constant of the build. */
  readonly licenseModule?: boolean | undefined;
  readonly settings: Settings;
  readonly vault: Vault;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly every: Every;
};

export type OpenLicense = {
  readonly holder: LicenseHolder;
  /** Undefined in a build without license support. */
  readonly licensing: Licensing | undefined;
  close(): Promise<void>;
};

const CHECK_MS = 6 * 3_600_000;
/** How long the start waits for the license server; a later answer still counts. */
const START_WAIT_MS = 1_500;
/**
 * The operator chose the license server, so it may be in a private network. Cloud metadata services stay unreachable.
 */
const SERVER_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];

/** Reads the license and keeps it current: every six hours, and when another process saves one. */
export async function openLicense({
  licenseModule = LICENSE_MODULE,
  database,
  exclusive,
  signals,
  settings,
  vault,
  logger,
  now,
  every,
}: LicenseOptions): Promise<OpenLicense> {
  const holder = createLicenseHolder({ now });
  if (!licenseModule) {
    if (settings.licenseKey !== undefined) logger.warn('this build has no license support: SVC_LICENSE_KEY is ignored');
    return { holder, licensing: undefined, close: () => Promise.resolve() };
  }
  return openParts(async (closers) => {
    const server = openLicenseServer(settings);
    const checking = new Set<Promise<void>>();
    // A running check ends when the connections to the server are closed.
    closers.add(async () => {
      await Promise.all([server?.close(), ...checking]);
    });
    const store = createLicenseStore({ database, signals, exclusive, vault, logger });
    const licensing = createLicensing({
      holder,
      store,
      logger,
      now,
      verify: await createLicenseVerifier({ publicKey: settings.licensePublicKey ?? BUILT_IN_LICENSE_KEY }),
      exchange: server?.exchange,
      cache: createLicenseCache({ directory: settings.licenseCacheDir ?? join(settings.dataDir, 'license') }),
      digest: (licenseKey) => vault.digest('license-key', licenseKey),
      configuredKey: settings.licenseKey,
      newInstallId: () => randomUUID(),
    });
    function check(): Promise<void> {
      const current = licensing.check().finally(() => checking.delete(current));
      checking.add(current);
      return current;
    }
    const stopListening = store.onSaved(() => {
      licensing.reload().catch((error: unknown) => {
        logger.warn('the license could not be reloaded', { reason: reasonOf(error) });
      });
    });
    closers.add(stopListening);
    await licensing.reload();
    await withDeadline(check(), START_WAIT_MS, () => undefined);
    closers.add(every(CHECK_MS, check));
    return { holder, licensing };
  });
}

type OpenLicenseServer = { readonly exchange: ExchangeLicense; close(): Promise<void> };

/** Requests to the license server; undefined without `SVC_LICENSE_SERVER_URL`. */
function openLicenseServer({ licenseServerUrl: serverUrl, appEnv }: Settings): OpenLicenseServer | undefined {
  if (serverUrl === undefined) return undefined;
  const outbound = openOutbound({
    allowedPrivateNetworks: [...SERVER_NETWORKS, ...loopbackNetworks(appEnv)],
  });
  const closing = new AbortController();
  return {
    exchange: createLicenseExchange({ serverUrl, outbound, signal: closing.signal }),
    async close() {
      closing.abort();
      await outbound.close();
    },
  };
}
