import type { Actor } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { AccessRules } from '../ports/access-rules.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { Releases } from '../ports/releases.ts';
import type { TypeOfEntryDependencies } from './type-of-entry.ts';

/** What the use cases of releases work with. */
export type ReleaseDependencies = TypeOfEntryDependencies & {
  readonly eventStore: EventStore;
  readonly releases: Releases;
  readonly rows: Pick<EntryRows, 'load'>;
  readonly accessRules: AccessRules;
  /** One publication of a release at a time, in the whole install. */
  readonly exclusive: Exclusive;
  /** Roles that somebody holds in a tenant now; undefined for whom the install knows no more. */
  readonly rolesOf: (tenant: string, actor: Actor) => Promise<readonly string[] | undefined>;
};

/** Read model that releases are read from. */
export const RELEASES = 'releases';

export function releaseStream(tenant: string, id: string): string {
  return streamName({ category: 'release', tenant, id });
}
