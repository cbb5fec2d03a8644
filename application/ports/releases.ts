import type { ReleaseRecord } from '../../domain/content/release-record.ts';

/** A release whose scheduled time has passed or whose publication was interrupted. */
export type DueRelease = { readonly tenant: string; readonly id: string };

/** Queries of the releases in the read model. */
export type Releases = {
  /** Newest first. */
  list(tenant: string, page: { readonly limit: number; readonly offset: number }): Promise<readonly ReleaseRecord[]>;
  count(tenant: string): Promise<number>;
  one(tenant: string, id: string): Promise<ReleaseRecord | undefined>;
  /** At most 100 due releases of all tenants, the longest overdue first. `now`: RFC 3339, UTC, milliseconds. */
  due(now: string): Promise<readonly DueRelease[]>;
};
