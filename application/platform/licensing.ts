import type { License } from '../../domain/platform/license.ts';
import { isDue, phaseOf } from '../../domain/platform/license.ts';
import { chooseLicense } from '../../domain/platform/choose-license.ts';
import { refusal } from '../../domain/errors.ts';
import type { ExchangeLicense } from '../ports/license-exchange.ts';
import type { KeptLicense, LicenseCache, LicenseStore } from '../ports/license-storage.ts';
import type { VerifyLicense } from '../ports/license-verifier.ts';
import type { Logger } from '../ports/logger.ts';
import type { LicenseHolder } from './license-holder.ts';

export type LicensingDependencies = {
  readonly holder: LicenseHolder;
  readonly verify: VerifyLicense;
  /** Undefined without `SVC_LICENSE_SERVER_URL`. */
  readonly exchange: ExchangeLicense | undefined;
  readonly store: LicenseStore;
  readonly cache: LicenseCache;
  /** Keyed digest of an opaque key. */
  readonly digest: (licenseKey: string) => string;
  /** `SVC_LICENSE_KEY`. */
  readonly configuredKey: string | undefined;
  readonly newInstallId: () => string;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** The license of the install while it runs (spec 1, license). */
export type Licensing = {
  /** Goes by what is kept and configured; no network call. Called at start, and when another process may have renewed. */
  reload(): Promise<void>;
  /** Contacts the license server where that is due: an opaque key, and no active token or one within 7 days of its end. Never throws. */
  check(): Promise<void>;
  /**
   * Goes by another license, here and in every process, with no restart.
   * @throws `license_unverified`, `license_expired` (past its grace), `license_refused`, `license_server_unreachable`
   */
  renew(licenseKey: string): Promise<License>;
  /** Why the license is not what its owner expects; undefined when all is well. */
  error(): string | undefined;
};

const OPAQUE = 'svc_live_';
const UNVERIFIED = 'license verification failed';
const EXPIRED = 'the license has expired';
const NO_SERVER = 'SVC_LICENSE_SERVER_URL is not set: the license key can not be exchanged';

export function createLicensing(dependencies: LicensingDependencies): Licensing {
  const { holder, verify, exchange, store, cache, digest, configuredKey, logger, now } = dependencies;
  const opaqueConfigured = configuredKey?.startsWith(OPAQUE) === true ? configuredKey : undefined;
  const signedConfigured = opaqueConfigured === undefined ? configuredKey : undefined;
  let version = -1;
  let cached: KeptLicense | undefined;
  let kept: KeptLicense | undefined;
  let renewalKey: string | undefined;
  let installId: string | undefined;
  let unverified = false;
  let failure: string | undefined;
  let turn: Promise<void> = Promise.resolve();

  /** One at a time: what was read last is what counts. */
  function reload(): Promise<void> {
    const mine = turn.then(readAll);
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function readAll(): Promise<void> {
    if (installId === undefined) await readCache();
    let stored = await store.load();
    if (stored.kept === undefined && cached !== undefined) {
      // The database has lost what this machine still knows.
      await store.save(cached, undefined);
      stored = await store.load();
    }
    if (stored.version !== version) {
      version = stored.version;
      renewalKey = stored.renewalKey;
      if (stored.kept !== undefined && stored.kept.token !== cached?.token) await remember(stored.kept);
      kept = stored.kept;
      failure = undefined;
    }
    await choose();
  }

  async function readCache(): Promise<void> {
    const file = await cache.load();
    installId = await store.installId(file.installId ?? dependencies.newInstallId());
    // What another install left there is none of ours.
    if (file.installId === installId) cached = file.kept;
  }

  /** Time alone changes the choice, so it is made again at every look. */
  async function choose(): Promise<void> {
    const counts = kept && (kept.origin === 'renewal' || opaqueConfigured !== undefined) ? kept.token : undefined;
    const configured = signedConfigured === undefined ? undefined : await verify(signedConfigured);
    holder.hold(chooseLicense([counts === undefined ? undefined : await verify(counts), configured], now()));
    const wrong = signedConfigured !== undefined && !configured;
    if (wrong && !unverified) logger.error(UNVERIFIED, { variable: 'SVC_LICENSE_KEY' });
    unverified = wrong;
  }

  /** Keeps the token beside the install; without a writable directory the database alone knows it. */
  async function remember(content: KeptLicense): Promise<void> {
    cached = content;
    await cache.save({ installId: installId ?? '', kept: content }).catch((error: unknown) => {
      logger.warn('the license cache can not be written', { reason: error instanceof Error ? error.message : String(error) });
    });
  }

  /** The key of a renewal goes before the configured one until its license has lapsed. */
  function exchangeKey(): string | undefined {
    const lapsed = holder.current()?.phase === 'lapsed';
    return renewalKey !== undefined && (!lapsed || opaqueConfigured === undefined) ? renewalKey : opaqueConfigured;
  }

  function needsExchange(key: string): boolean {
    const current = holder.current();
    if (current?.phase !== 'active' || isDue(current.license, now())) return true;
    // Another key was configured since: its license counts, not that of the old one.
    return kept?.origin === 'exchange' && kept.keyDigest !== digest(key);
  }

  async function exchanged(licenseKey: string): Promise<{ readonly token: string; readonly license: License }> {
    if (!exchange) throw refusal('license_server_unreachable', { message: NO_SERVER });
    const outcome = await exchange({ licenseKey, installId: installId ?? '' });
    if (outcome.kind === 'refused') throw refusal('license_refused', { message: outcome.reason });
    if (outcome.kind === 'unreachable') throw refusal('license_server_unreachable', { message: outcome.reason });
    return { token: outcome.token, license: await usable(outcome.token) };
  }

  async function usable(token: string): Promise<License> {
    const license = await verify(token);
    if (!license) throw refusal('license_unverified');
    if (phaseOf(license, now()) === 'lapsed') throw refusal('license_expired');
    return license;
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
      // Another process may have been faster.
      await reload();
      if (exchangeKey() !== key || !needsExchange(key)) return;
      const { token, license } = await exchanged(key);
      const current = holder.current();
      const shorter = kept?.origin === 'renewal' && current !== undefined && license.expiresAt < current.license.expiresAt;
      if (token === kept?.token || shorter) return;
      const { origin } = kept?.origin === 'renewal' && renewalKey === key ? kept : { origin: 'exchange' as const };
      await keep({ token, origin, keyDigest: digest(key) }, origin === 'renewal' ? key : undefined);
      logger.info('the license was renewed by the license server');
    });
  }

  function report(): void {
    const current = holder.current();
    if (current?.phase === 'grace') logger.warn('the license has expired; paid features run on for 7 days', { expired_at: current.license.expiresAt.toISOString() });
    if (current?.phase === 'lapsed') logger.warn('the license has lapsed: the free tier runs', { expired_at: current.license.expiresAt.toISOString() });
  }

  return {
    reload,
    async check() {
      try {
        await reload();
        await exchangeWhenDue();
        failure = undefined;
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
        logger.warn('the license was not renewed', { reason: failure });
      }
      report();
    },
    async renew(licenseKey) {
      const opaque = licenseKey.startsWith(OPAQUE);
      const { token, license } = opaque ? await exchanged(licenseKey) : { token: licenseKey, license: await usable(licenseKey) };
      await keep({ token, origin: 'renewal', keyDigest: opaque ? digest(licenseKey) : null }, opaque ? licenseKey : undefined);
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
