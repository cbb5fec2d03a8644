import type { Actor } from '../event.ts';
import type { EntryStatus, FieldValues } from './entry-events.ts';

/** The state of an entry, folded from its events. */
export type EntryState = {
  readonly id: string;
  readonly typeId: string;
  readonly schema: string;
  readonly fields: FieldValues;
  readonly status: EntryStatus;
  readonly slug: string | undefined;
  /** Revision of the stream plus one. */
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | undefined;
  readonly createdBy: Actor;
  readonly updatedBy: Actor;
  readonly deleted: boolean;
  /** The content type had soft delete at the deletion, so read models keep the entry. */
  readonly deletedSoftly: boolean;
};
