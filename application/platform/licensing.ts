import { refusal } from '../../domain/errors.ts';
import { messageOf } from '../../domain/message-of.ts';
import { chooseLicense } from '../../domain/platform/choose-license.ts';
import { type License, isRenewalDue, phaseOf } from '../../domain/platform/license.ts';
import { createMutex } from '../concurrency/mutex.ts';
import type { ExchangeLicense } from '../ports/license-exchange.ts';
import type { KeptLicense, LicenseCache, LicenseStore } from '../ports/license-storage.ts';
import type { VerifyLicense } from '../ports/license-verifier.ts';
import type { Logger } from '../ports/logger.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import type { LicenseHolder } from './license-holder.ts';

export type LicensingDependencies = {
  readonly holder: LicenseHolder;
  readonly verify: VerifyLicense;
  /** Undefined without `SVC_LICENSE_SERVER_URL`. */
  readonly exchange: ExchangeLicense | undefined;
  readonly store: LicenseStore;
  readonly cache: LicenseCache;
  /** Returns the keyed digest of an opaque license key. */
  readonly digest: (licenseKey: string) => string;
  /**
   * Setting `SVC_LICENSE_KEY`: a signed token, or an opaque key (`svc_live_…`) that the license server exchanges for a
   * token.
   */
  readonly configuredKey: string | undefined;
  readonly newInstallId: () => string;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Loads, renews and monitors the license of the installation while it runs. */
export type Licensing = {
  /**
   * Chooses the license in force from the stored and the configured one, without network calls. Call it at the start
   * and after a renewal by another process.
   */
  reload(): Promise<void>;
  /**
   * Exchanges the opaque key at the license server when no license is active or the active one expires within 7 days.
   * Never throws; see `error`.
   */
  check(): Promise<void>;
  /**
   * Replaces the license in all processes of the installation without a restart.
   * @throws `license_unverified`, `license_expired` (after its grace period), `license_refused`,
   * `license_server_unreachable`
   */
  renew(licenseKey: string): Promise<License>;
  /** Why the expected license is not in force; undefined without a problem. */
  error(): string | undefined;
};

const OPAQUE = 'svc_live_';
const UNVERIFIED = 'license verification failed';
const EXPIRED = 'the license has expired';
const NO_SERVER = 'SVC_LICENSE_SERVER_URL is not set: the license key cannot be exchanged';

export function createLicensing(dependencies: LicensingDependencies): Licensing {
  const { holder, verify, store, cache, digest, configuredKey, logger, now } = dependencies;
  const opaqueConfigured = configuredKey?.startsWith(OPAQUE) === true ? configuredKey : undefined;
  const signedConfigured = opaqueConfigured === undefined ? configuredKey : undefined;
  let version = -1;
  let fileLicense: KeptLicense | undefined;
  let storedLicense: KeptLicense | undefined;
  let renewalKey: string | undefined;
  let installId: string | undefined;
  let unverified = false;
  let failure: string | undefined;
  const mutex = createMutex();

  /** Runs one reload at a time, so that the last one determines the result. */
  function reload(): Promise<void> {
    return mutex.run(readAll);
  }

  async function readAll(): Promise<void> {
    if (installId === undefined) await readCache();
    let stored = await store.load();
    if (stored.kept === undefined && fileLicense !== undefined) {
      // The database lost the license that the cache file still has.
      await store.save(fileLicense, undefined);
      stored = await store.load();
    }
    if (stored.version !== version) {
      version = stored.version;
      renewalKey = stored.renewalKey;
      if (stored.kept !== undefined && stored.kept.token !== fileLicense?.token) await remember(stored.kept);
      storedLicense = stored.kept;
      failure = undefined;
    }
    await choose();
  }

  async function readCache(): Promise<void> {
    const file = await cache.load();
    installId = await store.installId(file.installId ?? dependencies.newInstallId());
    // The file may belong to another installation.
    if (file.installId === installId) fileLicense = file.kept;
  }

  /** The choice depends on the current time, so each reload makes it again. */
  async function choose(): Promise<void> {
    const storedToken =
      storedLicense && (storedLicense.origin === 'renewal' || opaqueConfigured !== undefined)
        ? storedLicense.token
        : undefined;
    const configured = signedConfigured === undefined ? undefined : await verify(signedConfigured);
    holder.hold(chooseLicense([storedToken === undefined ? undefined : await verify(storedToken), configured], now()));
    const invalid = signedConfigured !== undefined && !configured;
    if (invalid && !unverified) logger.error(UNVERIFIED, { variable: 'SVC_LICENSE_KEY' });
    unverified = invalid;
  }

  /** Writes the token to the cache file. Without a writable directory only the database holds it. */
  async function remember(content: KeptLicense): Promise<void> {
    fileLicense = content;
    await cache.save({ installId: installId ?? '', kept: content }).catch((error: unknown) => {
      logger.warn('the license cache file was not written', {
        reason: reasonOf(error),
      });
    });
  }

  /** The key to exchange: the key of a renewal until its license has lapsed, then the configured key. */
  function exchangeKey(): string | undefined {
    const lapsed = holder.current()?.phase === 'lapsed';
    return renewalKey !== undefined && (!lapsed || opaqueConfigured === undefined) ? renewalKey : opaqueConfigured;
  }

  function needsExchange(key: string): boolean {
    const current = holder.current();
    if (current?.phase !== 'active' || isRenewalDue(current.license, now())) return true;
    // The stored license was exchanged for a key that is no longer configured.
    return storedLicense?.origin === 'exchange' && storedLicense.keyDigest !== digest(key);
  }

  async function keep(content: KeptLicense, key: string | undefined): Promise<void> {
    await store.save(content, key);
    store.announce();
    await reload();
  }

  async function exchangeWhenDue(): Promise<void> {
    const key = exchangeKey();
    if (key === undefined || !needsExchange(key)) return;
    await store.exclusively(async () => {
      // Another process may have exchanged the key while this one waited.
      await reload();
      if (exchangeKey() !== key || !needsExchange(key)) return;
      const { token, license } = await exchangeForToken({ licenseKey: key, installId: installId ?? '' }, dependencies);
      const current = holder.current();
      const shorter =
        storedLicense?.origin === 'renewal' && current !== undefined && license.expiresAt < current.license.expiresAt;
      if (token === storedLicense?.token || shorter) return;
      const { origin } =
        storedLicense?.origin === 'renewal' && renewalKey === key ? storedLicense : { origin: 'exchange' as const };
      await keep({ token, origin, keyDigest: digest(key) }, origin === 'renewal' ? key : undefined);
      logger.info('the license server renewed the license');
    });
  }

  return {
    reload,
    async check() {
      try {
        await reload();
        await exchangeWhenDue();
        failure = undefined;
      } catch (error) {
        failure = messageOf(error);
        logger.warn('the license was not renewed', { reason: failure });
      }
      warnAboutExpiry(dependencies);
    },
    async renew(licenseKey) {
      const opaque = licenseKey.startsWith(OPAQUE);
      const { token, license } = opaque
        ? await exchangeForToken({ licenseKey, installId: installId ?? '' }, dependencies)
        : { token: licenseKey, license: await verifyUsable({ token: licenseKey }, dependencies) };
      await keep(
        { token, origin: 'renewal', keyDigest: opaque ? digest(licenseKey) : null },
        opaque ? licenseKey : undefined,
      );
      return license;
    },
    error() {
      const phase = holder.current()?.phase;
      if (failure !== undefined) return failure;
      if (phase === undefined) return unverified ? UNVERIFIED : undefined;
      return phase === 'lapsed' ? EXPIRED : undefined;
    },
  };
}

/** @throws `license_refused`, `license_server_unreachable`, `license_unverified`, `license_expired` */
async function exchangeForToken(
  { licenseKey, installId }: { readonly licenseKey: string; readonly installId: string },
  dependencies: Pick<LicensingDependencies, 'exchange' | 'verify' | 'now'>,
): Promise<{ readonly token: string; readonly license: License }> {
  const { exchange } = dependencies;
  if (!exchange) throw refusal('license_server_unreachable', { message: NO_SERVER });
  const outcome = await exchange({ licenseKey, installId });
  if (outcome.kind === 'refused') throw refusal('license_refused', { message: outcome.reason });
  if (outcome.kind === 'unreachable') throw refusal('license_server_unreachable', { message: outcome.reason });
  const { token } = outcome;
  return { token, license: await verifyUsable({ token }, dependencies) };
}

/** @throws `license_unverified`, `license_expired` */
async function verifyUsable(
  { token }: { readonly token: string },
  { verify, now }: Pick<LicensingDependencies, 'verify' | 'now'>,
): Promise<License> {
  const license = await verify(token);
  if (!license) throw refusal('license_unverified');
  if (phaseOf(license, now()) === 'lapsed') throw refusal('license_expired');
  return license;
}

function warnAboutExpiry({ holder, logger }: Pick<LicensingDependencies, 'holder' | 'logger'>): void {
  const current = holder.current();
  if (current?.phase === 'grace')
    logger.warn('the license has expired; paid features keep running for 7 days after the expiry', {
      expired_at: current.license.expiresAt.toISOString(),
    });
  if (current?.phase === 'lapsed')
    logger.warn('the license has lapsed; only the free tier is available', {
      expired_at: current.license.expiresAt.toISOString(),
    });
}
