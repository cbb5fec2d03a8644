import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { EventData } from '../event.ts';
import type { ContentTypeEvent } from './content-type-events.ts';
import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldNames } from './field-history.ts';
import type { PendingStatement } from './schema-diff.ts';

/** A content type as the directory returns it. Immutable: each save gives a new object, so it can key caches. */
export type ContentType = {
  /** Stays the same through renames. */
  readonly id: string;
  readonly tenant: string;
  /** Current name. It also names the table in `rm_content` (see `tableNameOf`) and the view in `content`. */
  readonly name: string;
  /** Revision of its stream; entry events carry it as `type_revision`. */
  readonly revision: number;
  readonly definition: ContentTypeDefinition;
  /** Oldest first; one item for each change of names or types. */
  readonly fieldNames: readonly FieldNames[];
  /** The type was deleted with its entries kept; a separate table holds them. */
  readonly deleted?: boolean;
};

/** A content type as the read model stores it, with what a change of it needs. */
export type StoredContentType = ContentType & {
  /** Removed fields whose values are kept until a pending statement runs. */
  readonly retained: readonly FieldDefinition[];
  /** Pending statements, oldest first, including those that the database has refused so far. */
  readonly pending: readonly PendingStatement[];
  /** Number of pending statements that saves have canceled since the pending statements were last applied. */
  readonly canceled: number;
  readonly deleted: boolean;
  /** Time of the deletion, which also marks its entries: RFC 3339, UTC, milliseconds; undefined for a live type. */
  readonly deletedAt: string | undefined;
};

/** Undefined before the first event. */
export type ContentTypeState =
  { readonly status: 'live'; readonly definition: ContentTypeDefinition } | { readonly status: 'deleted' } | undefined;

/**
 * The use cases have planned the change and tried its statements in the database, so a command carries the whole event.
 */
export type ContentTypeCommand =
  | { readonly kind: 'save'; readonly event: EventData<ContentTypeEvent, 'ContentTypeSaved'> }
  | { readonly kind: 'rename'; readonly event: EventData<ContentTypeEvent, 'ContentTypeRenamed'> }
  | { readonly kind: 'rename_field'; readonly event: EventData<ContentTypeEvent, 'ContentTypeFieldRenamed'> }
  | { readonly kind: 'apply_statements'; readonly event: EventData<ContentTypeEvent, 'ContentTypeStatementsApplied'> }
  | { readonly kind: 'delete'; readonly event: EventData<ContentTypeEvent, 'ContentTypeDeleted'> };

export const contentTypeDecider: Decider<ContentTypeState, ContentTypeCommand, ContentTypeEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): ContentTypeState {
  return undefined;
}

/**
 * A save also creates a type, and restores a deleted one.
 * @throws `schema_not_found` for other commands on a type that is not live
 */
function decide(state: ContentTypeState, command: ContentTypeCommand): readonly ContentTypeEvent[] {
  switch (command.kind) {
    case 'save':
      return [{ type: 'ContentTypeSaved', data: command.event }];
    case 'rename':
      refuseUnlessLive(state);
      return [{ type: 'ContentTypeRenamed', data: command.event }];
    case 'rename_field':
      refuseUnlessLive(state);
      return [{ type: 'ContentTypeFieldRenamed', data: command.event }];
    case 'apply_statements':
      refuseUnlessLive(state);
      return [{ type: 'ContentTypeStatementsApplied', data: command.event }];
    case 'delete':
      refuseUnlessLive(state);
      return [{ type: 'ContentTypeDeleted', data: command.event }];
  }
}

function refuseUnlessLive(state: ContentTypeState): void {
  if (state?.status !== 'live') throw refusal('schema_not_found');
}

function evolve(state: ContentTypeState, event: ContentTypeEvent): ContentTypeState {
  switch (event.type) {
    case 'ContentTypeSaved':
    case 'ContentTypeRenamed':
    case 'ContentTypeFieldRenamed':
      return { status: 'live', definition: event.data.definition };
    case 'ContentTypeStatementsApplied':
      return state;
    case 'ContentTypeDeleted':
      return { status: 'deleted' };
  }
}
