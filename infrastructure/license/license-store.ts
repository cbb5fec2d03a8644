import type { Exclusive } from '../../application/ports/exclusive.ts';
import type { KeptLicense, LicenseStore } from '../../application/ports/license-storage.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Signals } from '../../application/ports/signals.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

export type LicenseStoreOptions = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  readonly signals: Pick<Signals, 'publish' | 'subscribe'>;
  readonly exclusive: Exclusive;
  readonly logger: Logger;
  /** Interval in milliseconds at which listeners are called in case a signal was lost. Default: 5,000. */
  readonly pollMs?: number;
};

type Content = { readonly kept: KeptLicense; readonly renewalKey: string | null };

const PURPOSE = 'license';
const CHANNEL = 'license';

/** The only row of `operational.license`: the id of the installation, and its exchanged or renewed license, sealed. */
export function createLicenseStore({
  database,
  vault,
  signals,
  exclusive,
  logger,
  pollMs = 5_000,
}: LicenseStoreOptions): LicenseStore {
  function open(sealed: SealedValue): Content | undefined {
    try {
      return JSON.parse(vault.openSecret(PURPOSE, sealed)) as Content;
    } catch {
      logger.warn('the stored license cannot be opened with the current ENCRYPTION_KEY');
      return undefined;
    }
  }
  return {
    async installId(offered) {
      await database.execute(
        'insert into operational.license (install_id) values ($1) on conflict (only_row) do nothing',
        [offered],
      );
      const [row] = await database.query<{ readonly install_id: string }>('select install_id from operational.license');
      return row?.install_id ?? offered;
    },
    async load() {
      const [row] = await database.query<{ readonly version: number; readonly content: SealedValue | null }>(
        'select version, content from operational.license',
        [],
        'license-load',
      );
      const content = row?.content ? open(row.content) : undefined;
      return { version: row?.version ?? 0, kept: content?.kept, renewalKey: content?.renewalKey ?? undefined };
    },
    async save(kept, renewalKey) {
      const content: Content = { kept, renewalKey: renewalKey ?? null };
      await database.execute('update operational.license set content = $1, version = version + 1', [
        JSON.stringify(vault.sealSecret(PURPOSE, JSON.stringify(content))),
      ]);
    },
    exclusively: (work) => exclusive('license', work),
    announce() {
      signals.publish(CHANNEL, '');
    },
    onSaved(listener) {
      const unsubscribe = signals.subscribe(CHANNEL, listener);
      const timer = setInterval(listener, pollMs);
      timer.unref();
      return () => {
        clearInterval(timer);
        unsubscribe();
      };
    },
  };
}
