import type { Vault } from '../ports/vault.ts';

/** Digest under which the device's code is stored. */
export function deviceCodeDigest(deviceCode: string, vault: Pick<Vault, 'digest'>): string {
  return vault.digest('sign-in/device', deviceCode);
}

/** Digest under which the user's code is stored. `code` has the form of `parseUserCode`. */
export function userCodeDigest(code: string, vault: Pick<Vault, 'digest'>): string {
  return vault.digest('sign-in/user-code', code);
}
