import type { SealedValue } from '../../domain/sealed-value.ts';

/**
 * Encrypts values that must not be stored in plain text. Secrets are sealed under a key from `ENCRYPTION_KEY`; personal
 * data under a key per person, which is itself sealed, stored in `operational.person_keys` and destroyed when the
 * person is erased.
 */
export type Vault = {
  /**
   * Seals a secret. `purpose` (such as `webhook/<id>/secret`) is authenticated: the value opens only with the same
   * purpose.
   */
  sealSecret(purpose: string, clear: string): SealedValue;
  /** @throws when the value was altered or sealed for another purpose */
  openSecret(purpose: string, sealed: SealedValue): string;
  /**
   * Seals a secret of a person, such as a password hash, under the person's key, so that it opens no more after an
   * erasure. `purpose` is authenticated.
   * @throws Error when the person's key was destroyed
   */
  sealPersonalSecret(personId: string, purpose: string, clear: string): Promise<SealedValue>;
  /**
   * Opens a secret of `sealPersonalSecret`, or one that an earlier version sealed with `sealSecret` for that purpose.
   * @returns undefined when the person's key was destroyed
   * @throws when the value was altered or sealed for another purpose or person
   */
  openPersonalSecret(personId: string, purpose: string, sealed: SealedValue): Promise<string | undefined>;
  /** Seals personal data under the person's key, which is created on first use. */
  sealPersonal(personId: string, clear: string): Promise<SealedValue>;
  /** @returns undefined when the person's key was destroyed */
  openPersonal(personId: string, sealed: SealedValue): Promise<string | undefined>;
  /** Opens several values in order, with one query for the keys that are not cached. */
  openPersonalMany(
    items: readonly { readonly personId: string; readonly sealed: SealedValue }[],
  ): Promise<readonly (string | undefined)[]>;
  /** The ids of all persons whose key exists and is not destroyed, in ascending order. */
  personIds(): AsyncIterable<string>;
  /**
   * Permanently destroys the person's key: values sealed under it can no longer be opened, and nothing more can be
   * sealed for that person. Other processes follow immediately, or within 30 seconds when a signal is lost.
   * @returns false when the key was destroyed before
   */
  destroyPerson(personId: string): Promise<boolean>;
  /** Keyed digest (HMAC-SHA256, base64url) for looking a value up without storing it. */
  digest(purpose: string, value: string): string;
};
