import { eventParser } from '../event-parser.ts';
import type { Actor, DomainEvent, RecordedEvent } from '../event.ts';
import type { EntryStatus } from './entry-events.ts';

export const RELEASE_ACTIONS = ['publish', 'unpublish', 'archive'] as const;
export type ReleaseAction = (typeof RELEASE_ACTIONS)[number];

/** What a release does to one entry. A release holds an entry at most once. */
export type ReleaseItem = { readonly entry_id: string; readonly action: ReleaseAction };

/** An item that was refused; `error` is the message of the refusal. */
export type RefusedItem = { readonly entry_id: string; readonly error: string };

/**
 * One step of a publication that takes several appends. It holds enough to run the step exactly once, also after a
 * crash.
 */
export type ReleaseTransition = ReleaseItem & {
  /** Id of the event that changes the status of the entry. */
  readonly event_id: string;
  /** Revision of the entry's stream that the transition was decided on. */
  readonly expected: number;
  /** The entry's status before the transition, for reverting it. */
  readonly from: EntryStatus;
};

/** What a caller sets of a release. */
export type ReleaseSettings = {
  readonly name: string;
  readonly description: string;
  /** RFC 3339, UTC, milliseconds; null for a release without a schedule. */
  readonly scheduled_at: string | null;
};

/** Events of a release, stream `release-<tenant>.<id>`. */
export type ReleaseEvent =
  | DomainEvent<'ReleaseCreated', ReleaseSettings>
  /** Holds the settings that changed. */
  | DomainEvent<'ReleaseChanged', Partial<ReleaseSettings>>
  | DomainEvent<'ReleaseEntriesSet', { readonly items: readonly ReleaseItem[] }>
  /** Appended only on an event store without atomic appends to several streams, before the first transition. */
  | DomainEvent<'ReleasePublicationStarted', { readonly moves: readonly ReleaseTransition[] }>
  /** A transition was refused; the transitions before it are reverted. */
  | DomainEvent<'ReleasePublicationReverting', { readonly refused: readonly RefusedItem[] }>
  | DomainEvent<'ReleasePublished', Record<string, never>>
  /** `refused`: the items that made the publication fail. No entry of the release changes its status. */
  | DomainEvent<'ReleasePublicationFailed', { readonly refused: readonly RefusedItem[] }>
  | DomainEvent<'ReleaseDeleted', Record<string, never>>;

/** A release's event with its actor. */
export type AttributedReleaseEvent = ReleaseEvent & { readonly actor: Actor };

export const releaseEvents = eventParser<ReleaseEvent>('release', [
  'ReleaseCreated',
  'ReleaseChanged',
  'ReleaseEntriesSet',
  'ReleasePublicationStarted',
  'ReleasePublicationReverting',
  'ReleasePublished',
  'ReleasePublicationFailed',
  'ReleaseDeleted',
]);

/**
 * Reads a stored event of a release's stream.
 * @throws TypeError for an event of another aggregate
 */
export function parseReleaseEvent(event: RecordedEvent): AttributedReleaseEvent {
  return { ...releaseEvents.parse(event), actor: event.metadata.actor };
}
