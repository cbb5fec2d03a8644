/** A signed token that this install came by while it ran, and how. */
export type KeptLicense = {
  readonly token: string;
  /** `renewal`: somebody renewed by hand, which wins over the configured key; `exchange`: the license server gave it for the configured key. */
  readonly origin: 'exchange' | 'renewal';
  /** Keyed digest of the opaque key it was exchanged for; null for a token that was handed in signed. */
  readonly keyDigest: string | null;
};

/** The license as every process of the install shares it, in the database. */
export type LicenseStore = {
  /** The install's id: the one stored, else `offered` is stored and answered. */
  installId(offered: string): Promise<string>;
  /** What is kept, with the opaque key of a renewal, sealed at rest. `version` grows with every change. */
  load(): Promise<{ readonly version: number; readonly kept: KeptLicense | undefined; readonly renewalKey: string | undefined }>;
  save(kept: KeptLicense, renewalKey: string | undefined): Promise<void>;
  /** Runs work alone among all processes of the install. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Tells every process, this one included, that something was saved. */
  announce(): void;
  /** Calls back when another process may have saved. @returns how to stop it */
  onSaved(listener: () => void): () => void;
};

/** The license as one machine keeps it in `SVC_LICENSE_CACHE_DIR`: readable by its owner only, replaced as a whole. */
export type LicenseCache = {
  /** What can't be read counts as not there. */
  load(): Promise<{ readonly installId: string | undefined; readonly kept: KeptLicense | undefined }>;
  /** @throws when the directory can't be written */
  save(content: { readonly installId: string; readonly kept: KeptLicense }): Promise<void>;
};
