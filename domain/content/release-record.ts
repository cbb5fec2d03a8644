import type { Actor, RecordedEvent } from '../event.ts';
import { type RefusedItem, type ReleaseItem, parseReleaseEvent } from './release-events.ts';
import { type ReleaseStatus, releaseDecider } from './release.ts';

/** A release as responses show it. Times are RFC 3339, UTC, milliseconds. */
export type ReleaseRecord = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: ReleaseStatus;
  readonly scheduled_at: string | null;
  readonly items: readonly ReleaseItem[];
  /** Items that the last publication was refused for. */
  readonly refused: readonly RefusedItem[];
  readonly created_at: string;
  readonly created_by: Actor;
  readonly updated_at: string;
  readonly published_at: string | null;
};

/** The record after one more event of its stream; undefined after the deletion. */
export function recordAfter(
  record: ReleaseRecord | undefined,
  id: string,
  recorded: RecordedEvent,
): ReleaseRecord | undefined {
  const event = parseReleaseEvent(recorded);
  const state = releaseDecider.evolve(
    record && { ...record, itemsSetBy: undefined, scheduledBy: undefined, transitions: [] },
    event,
  );
  if (!state) return undefined;
  const { name, description, status, scheduled_at, items, refused } = state;
  const { occurred_at: at, actor } = recorded.metadata;
  return {
    id,
    name,
    description,
    status,
    scheduled_at,
    items,
    refused,
    created_at: record?.created_at ?? at,
    created_by: record?.created_by ?? { kind: actor.kind, id: actor.id },
    updated_at: at,
    published_at: event.type === 'ReleasePublished' ? at : (record?.published_at ?? null),
  };
}
