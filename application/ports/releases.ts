import type { ReleaseRecord } from '../../domain/content/release-record.ts';

/** A release whose time has come, or whose publication was broken off. */
export type DueRelease = { readonly tenant: string; readonly id: string };

/** The releases of the read model. */
export type Releases = {
  /** Newest first. */
  list(tenant: string, page: { readonly limit: number; readonly offset: number }): Promise<readonly ReleaseRecord[]>;
  count(tenant: string): Promise<number>;
  one(tenant: string, id: string): Promise<ReleaseRecord | undefined>;
  /** Of every tenant, the longest due first, at most a hundred. `now`: RFC 3339, UTC, milliseconds. */
  due(now: string): Promise<readonly DueRelease[]>;
};
