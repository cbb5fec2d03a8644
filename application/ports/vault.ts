import type { JsonObject } from '../../domain/json.ts';

/** A value sealed with AES-256-GCM: `v` format, `k` key id, `n` nonce, `c` cipher text and tag, base64url. */
export type Sealed = JsonObject & { readonly $sealed: 1; readonly k: string; readonly n: string; readonly c: string };

/**
 * Sealing of what may not stand in clear (rule 11). Secrets are sealed under a key from `ENCRYPTION_KEY`; personal data under a key
 * per person, itself sealed and kept in `operational.person_keys`, destroyed when the person is erased.
 */
export type Vault = {
  /** Seals a secret. `purpose` (such as `webhook/<id>/secret`) is bound in: it opens only under the same one. */
  sealSecret(purpose: string, clear: string): Sealed;
  /** @throws when it was altered or belongs to another purpose. */
  openSecret(purpose: string, sealed: Sealed): string;
  /** Seals personal data under the person's key, which is made on first use. */
  sealPersonal(personId: string, clear: string): Promise<Sealed>;
  /** @returns undefined when the person's key was destroyed. */
  openPersonal(personId: string, sealed: Sealed): Promise<string | undefined>;
  /** Opens many; one query for the keys that are not cached. Order kept. */
  openPersonalMany(items: readonly { readonly personId: string; readonly sealed: Sealed }[]): Promise<readonly (string | undefined)[]>;
  /**
   * Destroys the person's key for good: what was sealed under it opens nowhere any more, and nothing is sealed for them again. Other processes
   * follow at once, or within 30 seconds where signals get lost.
   * @returns false when it was destroyed before
   */
  destroyPerson(personId: string): Promise<boolean>;
  /** Keyed digest (HMAC-SHA256, base64url) for looking a value up without storing it. */
  digest(purpose: string, value: string): string;
};
