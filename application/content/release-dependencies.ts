import type { Actor, GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { AccessRules } from '../ports/access-rules.ts';
import type { EntryRows } from '../ports/entry-rows.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { Releases } from '../ports/releases.ts';
import type { TypeOfEntryDependencies } from './type-of-entry.ts';

/** Dependencies of the use cases of releases. */
export type ReleaseDependencies = TypeOfEntryDependencies & {
  readonly eventStore: EventStore;
  readonly releases: Releases;
  readonly entryRows: Pick<EntryRows, 'load'>;
  readonly accessRules: AccessRules;
  /** Runs one publication of a release at a time in the whole installation. */
  readonly exclusive: Exclusive;
  /** The current roles of an actor in a tenant; undefined for an unknown actor. */
  readonly rolesOf: (tenant: string, actor: Actor) => Promise<readonly string[] | undefined>;
};

export type ReleaseOutcome = { readonly id: string; readonly position: GlobalPosition | undefined };

/** Name of the read model of releases. */
export const RELEASES = 'releases';

export function releaseStream(tenant: string, id: string): string {
  return streamName({ category: 'release', tenant, id });
}
