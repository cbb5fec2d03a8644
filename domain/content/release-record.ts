import type { Actor, RecordedEvent } from '../event.ts';
import type { RefusedItem, ReleaseItem, ReleaseStatus } from './release.ts';
import { parseReleaseEvent, releaseDecider } from './release.ts';

/** A release as it is shown. Times are RFC 3339, UTC, milliseconds. */
export type ReleaseRecord = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: ReleaseStatus;
  readonly scheduled_at: string | null;
  readonly items: readonly ReleaseItem[];
  /** Items that the last publication stumbled over. */
  readonly refused: readonly RefusedItem[];
  readonly created_at: string;
  readonly created_by: Actor;
  readonly updated_at: string;
  readonly published_at: string | null;
};

/** The record after one more event of its stream; undefined after its deletion. */
export function recordAfter(record: ReleaseRecord | undefined, id: string, event: RecordedEvent): ReleaseRecord | undefined {
  const fact = parseReleaseEvent(event);
  const state = releaseDecider.evolve(record && { ...record, scheduledBy: undefined, moves: [] }, fact);
  if (!state) return undefined;
  const { name, description, status, scheduled_at, items, refused } = state;
  const { occurred_at: at, actor } = event.metadata;
  return {
    id, name, description, status, scheduled_at, items, refused,
    created_at: record?.created_at ?? at,
    created_by: record?.created_by ?? { kind: actor.kind, id: actor.id },
    updated_at: at,
    published_at: fact.type === 'ReleasePublished' ? at : (record?.published_at ?? null),
  };
}
