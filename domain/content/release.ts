import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { Actor, DomainEvent, RecordedEvent } from '../event.ts';
import type { EntryStatus } from './events.ts';

export const RELEASE_ACTIONS = ['publish', 'unpublish', 'archive'] as const;
export type ReleaseAction = (typeof RELEASE_ACTIONS)[number];

/** What a release does to one entry; an entry stands in it once. */
export type ReleaseItem = { readonly entry_id: string; readonly action: ReleaseAction };

/** Why an item can't be done, in words of the error catalogue. */
export type RefusedItem = { readonly entry_id: string; readonly error: string };

/** One step of a publication that is not one append: enough to do it once, whoever goes on with it after a crash. */
export type ReleaseMove = ReleaseItem & {
  /** Id of the event that does it. */
  readonly event_id: string;
  /** Revision of the entry's stream that the decision saw. */
  readonly expected: number;
  /** Status before, for taking it back. */
  readonly from: EntryStatus;
};

/** Stream `release-<tenant>.<id>` (spec 4 A, releases). Times are RFC 3339, UTC, milliseconds. */
export type ReleaseEvent =
  | DomainEvent<'ReleaseCreated', { readonly name: string; readonly description: string; readonly scheduled_at: string | null }>
  /** What changed. */
  | DomainEvent<'ReleaseChanged', Partial<ReleaseSettings>>
  | DomainEvent<'ReleaseEntriesSet', { readonly items: readonly ReleaseItem[] }>
  /** Only on an event store without atomic appends to several streams: the steps follow, each once. */
  | DomainEvent<'ReleasePublicationStarted', { readonly moves: readonly ReleaseMove[] }>
  /** A step was refused: what was done is taken back. */
  | DomainEvent<'ReleasePublicationReverting', { readonly refused: readonly RefusedItem[] }>
  | DomainEvent<'ReleasePublished', Record<string, never>>
  /** `refused`: the items to blame; none of the release is in force. */
  | DomainEvent<'ReleasePublicationFailed', { readonly refused: readonly RefusedItem[] }>
  | DomainEvent<'ReleaseDeleted', Record<string, never>>;

/** What a person sets of a release. */
export type ReleaseSettings = { readonly name: string; readonly description: string; readonly scheduled_at: string | null };

export type ReleaseStatus = 'draft' | 'scheduled' | 'publishing' | 'published' | 'failed';

/** A release as its events make it. */
export type Release = ReleaseSettings & {
  readonly status: ReleaseStatus;
  readonly items: readonly ReleaseItem[];
  /** Who set the time, or started the publication that is under way. */
  readonly scheduledBy: Actor | undefined;
  /** Steps of the publication that is under way. */
  readonly moves: readonly ReleaseMove[];
  /** Items that the last publication stumbled over; while steps are taken back, too. */
  readonly refused: readonly RefusedItem[];
};

export type ReleaseState = Release | undefined;

/** An event with who caused it. */
export type ReleaseFact = ReleaseEvent & { readonly actor: Actor };

export const releaseDecider: Decider<ReleaseState, ReleaseFact> = { initialState: () => undefined, evolve };

function evolve(state: ReleaseState, event: ReleaseFact): ReleaseState {
  if (event.type === 'ReleaseCreated') {
    return scheduled({ ...event.data, status: 'draft', items: [], scheduledBy: undefined, moves: [], refused: [] }, event.data.scheduled_at, event.actor);
  }
  if (!state) return undefined;
  switch (event.type) {
    case 'ReleaseChanged': {
      const { scheduled_at: at, ...texts } = event.data;
      return at === undefined ? { ...state, ...texts } : scheduled({ ...state, ...texts }, at, event.actor);
    }
    case 'ReleaseEntriesSet':
      return { ...state, items: event.data.items };
    case 'ReleasePublicationStarted':
      return { ...state, status: 'publishing', moves: event.data.moves, refused: [], scheduledBy: event.actor };
    case 'ReleasePublicationReverting':
      return { ...state, refused: event.data.refused };
    case 'ReleasePublished':
      return { ...state, status: 'published', moves: [], refused: [] };
    case 'ReleasePublicationFailed':
      return { ...state, status: 'failed', moves: [], refused: event.data.refused };
    case 'ReleaseDeleted':
      return undefined;
  }
}

function scheduled(release: Release, at: string | null, by: Actor): Release {
  return { ...release, scheduled_at: at, status: at === null ? 'draft' : 'scheduled', scheduledBy: at === null ? undefined : by, refused: [] };
}

/** @throws `release_not_found`, `release_published`, `release_in_progress` */
export function openRelease(state: ReleaseState): Release {
  if (!state) throw refusal('release_not_found');
  if (state.status === 'published') throw refusal('release_published');
  if (state.status === 'publishing') throw refusal('release_in_progress');
  return state;
}

/** Sets what differs; nothing happens where nothing does. @throws the refusals of `openRelease` */
export function changeRelease(state: ReleaseState, wanted: Partial<ReleaseSettings>): readonly ReleaseEvent[] {
  const release = openRelease(state);
  const { name = release.name, description = release.description, scheduled_at: at = release.scheduled_at } = wanted;
  // The same time once more puts a failed release on the schedule again.
  const again = wanted.scheduled_at !== undefined && release.status === 'failed';
  const changed: Partial<ReleaseSettings> = {
    ...(name === release.name ? {} : { name }),
    ...(description === release.description ? {} : { description }),
    ...(at === release.scheduled_at && !again ? {} : { scheduled_at: at }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'ReleaseChanged', data: changed }];
}

/** @throws the refusals of `openRelease` */
export function setReleaseEntries(state: ReleaseState, items: readonly ReleaseItem[]): readonly ReleaseEvent[] {
  const before = openRelease(state).items;
  const same = before.length === items.length && before.every((item, at) => item.entry_id === items[at]?.entry_id && item.action === items[at].action);
  return same ? [] : [{ type: 'ReleaseEntriesSet', data: { items } }];
}

/** A published one may go too: what it did stays. @throws `release_not_found`, `release_in_progress` */
export function deleteRelease(state: ReleaseState): readonly ReleaseEvent[] {
  if (!state) throw refusal('release_not_found');
  if (state.status === 'publishing') throw refusal('release_in_progress');
  return [{ type: 'ReleaseDeleted', data: {} }];
}

const TYPES: ReadonlySet<string> = new Set<ReleaseEvent['type']>([
  'ReleaseCreated', 'ReleaseChanged', 'ReleaseEntriesSet', 'ReleasePublicationStarted', 'ReleasePublicationReverting', 'ReleasePublished', 'ReleasePublicationFailed', 'ReleaseDeleted',
]);

/** Reads a stored event of a release's stream. @throws RangeError for a type that is none of a release's */
export function parseReleaseEvent(event: RecordedEvent): ReleaseFact {
  if (!isReleaseEvent(event)) throw new RangeError(`no event of a release: ${event.type} in ${event.stream}`);
  return { ...event, actor: event.metadata.actor };
}

function isReleaseEvent(event: RecordedEvent): event is RecordedEvent & ReleaseEvent {
  return TYPES.has(event.type);
}
