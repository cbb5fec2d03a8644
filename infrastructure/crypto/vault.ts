import { createHmac } from 'node:crypto';
import QuickLRU from 'quick-lru';
import type { Signals } from '../../application/ports/signals.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { Database } from '../postgres/database.ts';
import { deriveKey } from './derive-key.ts';
import { createPersonKeys } from './person-keys.ts';
import { open, seal } from './sealed-box.ts';

export type VaultOptions = {
  /** Database with the table `operational.person_keys`. */
  readonly database: Database;
  /** `ENCRYPTION_KEY`, at least 32 characters. */
  readonly encryptionKey: string;
  /** Notifies other processes of destroyed keys. Without it they stop using a destroyed key within 30 seconds. */
  readonly signals?: Pick<Signals, 'publish' | 'subscribe'> | undefined;
};

const PERSONAL = 'personal';
const CACHED_KEYS = 1_000;

/**
 * Creates the vault. It seals with AES-256-GCM: secrets under a key per purpose that is derived from `ENCRYPTION_KEY`,
 * personal data under a key per person.
 */
export function createVault({ database, encryptionKey, signals }: VaultOptions): Vault {
  const derived = new QuickLRU<string, Buffer>({ maxSize: CACHED_KEYS });
  const personKeys = createPersonKeys({ database, masterKey: deriveKey(encryptionKey, 'person-keys'), signals });

  function keyOf(purpose: string): Buffer {
    const cached = derived.get(purpose);
    if (cached) return cached;
    const key = deriveKey(encryptionKey, purpose);
    derived.set(purpose, key);
    return key;
  }

  async function openPersonalMany(
    items: Parameters<Vault['openPersonalMany']>[0],
  ): Promise<readonly (string | undefined)[]> {
    const keys = await personKeys.find(items.map(({ personId }) => personId));
    return items.map(({ personId, sealed }) => {
      const key = keys.get(personId);
      return key && open(sealed, { key, purpose: PERSONAL });
    });
  }

  return {
    sealSecret: (purpose, plainText) =>
      seal(plainText, { key: { id: 'secret', bytes: keyOf(`secret/${purpose}`) }, purpose }),
    openSecret: (purpose, sealed) => open(sealed, { key: keyOf(`secret/${purpose}`), purpose }),
    sealPersonal: async (personId, plainText) =>
      seal(plainText, { key: { id: 'person', bytes: await personKeys.obtain(personId) }, purpose: PERSONAL }),
    openPersonal: async (personId, sealed) => (await openPersonalMany([{ personId, sealed }]))[0],
    openPersonalMany,
    destroyPerson: (personId) => personKeys.destroy(personId),
    digest: (purpose, value) =>
      createHmac('sha256', keyOf(`digest/${purpose}`))
        .update(value)
        .digest('base64url'),
  };
}
