/** A signed token that this installation received while it ran, and its origin. */
export type KeptLicense = {
  readonly token: string;
  /**
   * `renewal`: an administrator renewed the license, which overrides the configured key; `exchange`: the license server
   * returned it for the configured key.
   */
  readonly origin: 'exchange' | 'renewal';
  /** Keyed digest of the opaque key it was exchanged for; null for a token that was submitted in signed form. */
  readonly keyDigest: string | null;
};

/** The license in the database, shared by all processes of the installation. */
export type LicenseStore = {
  /** Returns the stored id of the installation; stores `offered` if none exists. */
  installId(offered: string): Promise<string>;
  /**
   * The stored license, and the opaque key of a renewal, which is sealed at rest. `version` increases with every
   * change.
   */
  load(): Promise<{
    readonly version: number;
    readonly kept: KeptLicense | undefined;
    readonly renewalKey: string | undefined;
  }>;
  save(kept: KeptLicense, renewalKey: string | undefined): Promise<void>;
  /** Runs work while no other process of the installation does. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Notifies every process, including this one, that the license was saved. */
  announce(): void;
  /** Calls the listener when another process may have saved a license. @returns a function that removes the listener */
  onSaved(listener: () => void): () => void;
};

/**
 * The license cached on one machine, in `SVC_LICENSE_CACHE_DIR`. Files are readable by their owner only and replaced
 * atomically.
 */
export type LicenseCache = {
  /** Unreadable content is treated as missing. */
  load(): Promise<{ readonly installId: string | undefined; readonly kept: KeptLicense | undefined }>;
  /** @throws when the directory is not writable */
  save(content: { readonly installId: string; readonly kept: KeptLicense }): Promise<void>;
};
