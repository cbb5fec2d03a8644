import { createHmac } from 'node:crypto';
import QuickLRU from 'quick-lru';
import type { Signals } from '../../application/ports/signals.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
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

/** Ids of keys, stored with each sealed value: a key derived from `ENCRYPTION_KEY`, or the key of a person. */
const SECRET_KEY = 'secret';
const PERSON_KEY = 'person';
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

  const openSecret: Vault['openSecret'] = (purpose, sealed) =>
    open(sealed, { key: keyOf(`secret/${purpose}`), purpose });

  async function sealUnderPersonKey(personId: string, purpose: string, plainText: string): Promise<SealedValue> {
    return seal(plainText, { key: { id: PERSON_KEY, bytes: await personKeys.obtain(personId) }, purpose });
  }

  return {
    sealSecret: (purpose, plainText) =>
      seal(plainText, { key: { id: SECRET_KEY, bytes: keyOf(`secret/${purpose}`) }, purpose }),
    openSecret,
    sealPersonalSecret: sealUnderPersonKey,
    async openPersonalSecret(personId, purpose, sealed) {
      if (sealed.k === SECRET_KEY) return openSecret(purpose, sealed);
      const key = (await personKeys.find([personId])).get(personId);
      return key && open(sealed, { key, purpose });
    },
    sealPersonal: (personId, plainText) => sealUnderPersonKey(personId, PERSONAL, plainText),
    openPersonal: async (personId, sealed) => (await openPersonalMany([{ personId, sealed }]))[0],
    openPersonalMany,
    personIds: () => personKeys.ids(),
    destroyPerson: (personId) => personKeys.destroy(personId),
    digest: (purpose, value) =>
      createHmac('sha256', keyOf(`digest/${purpose}`))
        .update(value)
        .digest('base64url'),
  };
}
