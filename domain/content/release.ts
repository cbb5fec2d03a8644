import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import { type Actor, isSameActor } from '../event.ts';
import type {
  AttributedReleaseEvent,
  RefusedItem,
  ReleaseEvent,
  ReleaseItem,
  ReleaseSettings,
  ReleaseTransition,
} from './release-events.ts';

export type ReleaseStatus = 'draft' | 'scheduled' | 'publishing' | 'published' | 'failed';

export type Release = ReleaseSettings & {
  readonly status: ReleaseStatus;
  readonly items: readonly ReleaseItem[];
  /** The actor who set the items; undefined before they were set. */
  readonly itemsSetBy: Actor | undefined;
  /** The actor who set the schedule, or who started the publication in progress. */
  readonly scheduledBy: Actor | undefined;
  /** Transitions of the publication in progress. */
  readonly transitions: readonly ReleaseTransition[];
  /** Items that the last publication, or the one being reverted, was refused for. */
  readonly refused: readonly RefusedItem[];
};

/** Undefined before the first event and after the deletion. */
export type ReleaseState = Release | undefined;

/** The events of a publication are appended together with those of its entries, by `publishRelease`. */
export type ReleaseCommand = { readonly actor: Actor } & (
  | { readonly kind: 'create'; readonly settings: ReleaseSettings }
  | { readonly kind: 'change'; readonly settings: Partial<ReleaseSettings> }
  | { readonly kind: 'set_entries'; readonly items: readonly ReleaseItem[] }
  | { readonly kind: 'delete' }
);

export const releaseDecider: Decider<ReleaseState, ReleaseCommand, AttributedReleaseEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): ReleaseState {
  return undefined;
}

/**
 * A published release can be deleted; its entries stay published.
 * @throws `conflict` when the id of a new release is in use; `release_not_found`, `release_published`,
 *   `release_in_progress`
 */
function decide(state: ReleaseState, command: ReleaseCommand): readonly AttributedReleaseEvent[] {
  return eventsOf(state, command).map((event) => ({ ...event, actor: command.actor }));
}

function eventsOf(state: ReleaseState, command: ReleaseCommand): readonly ReleaseEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return [{ type: 'ReleaseCreated', data: command.settings }];
    case 'change':
      return change(requireEditableRelease(state), command.settings);
    case 'set_entries':
      return setEntries(requireEditableRelease(state), command);
    case 'delete':
      if (existing(state).status === 'publishing') throw refusal('release_in_progress');
      return [{ type: 'ReleaseDeleted', data: {} }];
  }
}

/**
 * The release, if it can still be changed or published.
 * @throws `release_not_found`, `release_published`, `release_in_progress`
 */
export function requireEditableRelease(state: ReleaseState): Release {
  const release = existing(state);
  if (release.status === 'published') throw refusal('release_published');
  if (release.status === 'publishing') throw refusal('release_in_progress');
  return release;
}

function existing(state: ReleaseState): Release {
  if (!state) throw refusal('release_not_found');
  return state;
}

function change(release: Release, settings: Partial<ReleaseSettings>): readonly ReleaseEvent[] {
  const { name = release.name, description = release.description, scheduled_at: at = release.scheduled_at } = settings;
  // A failed release is scheduled again even when the time is the same.
  const reschedule = settings.scheduled_at !== undefined && release.status === 'failed';
  const changes: Partial<ReleaseSettings> = {
    ...(name === release.name ? {} : { name }),
    ...(description === release.description ? {} : { description }),
    ...(at === release.scheduled_at && !reschedule ? {} : { scheduled_at: at }),
  };
  return Object.keys(changes).length === 0 ? [] : [{ type: 'ReleaseChanged', data: changes }];
}

/**
 * Also records an actor who sets the items that another actor set: items need the rights of the actor who set them
 * last. The schedule ends unless its own actor sets the items, because its actor has not seen them.
 */
function setEntries(
  release: Release,
  { items, actor }: { readonly items: readonly ReleaseItem[]; readonly actor: Actor },
): readonly ReleaseEvent[] {
  const isSetter = release.itemsSetBy === undefined ? items.length === 0 : isSameActor(release.itemsSetBy, actor);
  if (isSetter && sameItems(release.items, items)) return [];
  const set: ReleaseEvent = { type: 'ReleaseEntriesSet', data: { items } };
  const keepsSchedule =
    release.status !== 'scheduled' || (release.scheduledBy !== undefined && isSameActor(release.scheduledBy, actor));
  return keepsSchedule ? [set] : [set, { type: 'ReleaseChanged', data: { scheduled_at: null } }];
}

function sameItems(a: readonly ReleaseItem[], b: readonly ReleaseItem[]): boolean {
  return (
    a.length === b.length && a.every((item, at) => item.entry_id === b[at]?.entry_id && item.action === b[at].action)
  );
}

function evolve(state: ReleaseState, event: AttributedReleaseEvent): ReleaseState {
  if (event.type === 'ReleaseCreated') {
    return schedule(
      {
        ...event.data,
        status: 'draft',
        items: [],
        itemsSetBy: undefined,
        scheduledBy: undefined,
        transitions: [],
        refused: [],
      },
      event.data.scheduled_at,
      event.actor,
    );
  }
  if (!state) return undefined;
  switch (event.type) {
    case 'ReleaseChanged': {
      const { scheduled_at: at, ...texts } = event.data;
      return at === undefined ? { ...state, ...texts } : schedule({ ...state, ...texts }, at, event.actor);
    }
    case 'ReleaseEntriesSet':
      return { ...state, items: event.data.items, itemsSetBy: event.actor };
    case 'ReleasePublicationStarted':
      return { ...state, status: 'publishing', transitions: event.data.moves, refused: [], scheduledBy: event.actor };
    case 'ReleasePublicationReverting':
      return { ...state, refused: event.data.refused };
    case 'ReleasePublished':
      return { ...state, status: 'published', transitions: [], refused: [] };
    case 'ReleasePublicationFailed':
      return { ...state, status: 'failed', transitions: [], refused: event.data.refused };
    case 'ReleaseDeleted':
      return undefined;
  }
}

function schedule(release: Release, at: string | null, by: Actor): Release {
  return {
    ...release,
    scheduled_at: at,
    status: at === null ? 'draft' : 'scheduled',
    scheduledBy: at === null ? undefined : by,
    refused: [],
  };
}
