import type { Actor } from '../event.ts';
import type { EntryStatus, FieldValues } from './events.ts';

/** An entry as its events make it. */
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
  /** Deleted and kept: the type had soft delete then. */
  readonly deletedSoftly: boolean;
};
