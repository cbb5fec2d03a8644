import type { Decider } from '../decider.ts';
import type { RecordedEvent } from '../event.ts';
import type { ContentTypeDefinition, FieldDefinition, FieldType } from './definition.ts';
import type { ContentTypeEvent } from './events.ts';
import type { PendingStatement } from './schema-diff.ts';

/** What the fields were called from one revision of the type on (name → field id), and of which type they were (field id → type). */
export type FieldNames = { readonly revision: number; readonly names: { readonly [name: string]: string }; readonly types: { readonly [id: string]: FieldType } };

/** A content type in force, as the catalogue hands it out. Immutable: a new save gives a new object, so it may key caches. */
export type ContentType = {
  /** Stays the same through renames. */
  readonly id: string;
  readonly tenant: string;
  /** Today's name; also the name of its table in `rm_content` (`tableNameOf`) and of its view in `content`. */
  readonly name: string;
  /** Revision of its stream; entry events carry it as `type_revision`. */
  readonly revision: number;
  readonly definition: ContentTypeDefinition;
  /** Oldest first; one item for each change of names or types. */
  readonly fieldNames: readonly FieldNames[];
  /** Deleted with its entries kept: their table is one apart. */
  readonly deleted?: boolean;
};

/** A content type as the read model keeps it, with what a change of it must know. */
export type StoredContentType = ContentType & {
  /** Fields that are removed while their values wait for a queued statement. */
  readonly retained: readonly FieldDefinition[];
  /** Queued statements, oldest first, those among them that the database refused so far. */
  readonly pending: readonly PendingStatement[];
  /** Queued statements that saves have taken back since the last time the queue was applied. */
  readonly canceled: number;
  readonly deleted: boolean;
  /** Moment of that deletion, with which its entries are marked: RFC 3339, UTC, milliseconds. */
  readonly deletedAt: string | undefined;
};

/**
 * Today's field of what an event called `name` when the type stood at `revision`.
 * @returns undefined when the field is gone today or never was.
 */
export function fieldAt(type: Pick<ContentType, 'definition' | 'fieldNames'>, revision: number, name: string): FieldDefinition | undefined {
  const names = type.fieldNames.findLast((known) => known.revision <= revision)?.names;
  const id = names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
  return id === undefined ? undefined : type.definition.fields.find((field) => field.id === id);
}

/** Types that a field has had since a revision of the content type, that revision's first; neighbours differ. Empty where it was not there. */
export function typesSince({ fieldNames }: Pick<ContentType, 'fieldNames'>, revision: number, fieldId: string): readonly FieldType[] {
  const from = fieldNames.findLastIndex((known) => known.revision <= revision);
  const types = fieldNames.slice(Math.max(from, 0)).flatMap((known) => known.types[fieldId] ?? []);
  return types.filter((type, index) => type !== types[index - 1]);
}

/** Adds the names and types of a revision where they differ from those before. */
export function withFieldNames(known: readonly FieldNames[], revision: number, fields: readonly FieldDefinition[]): readonly FieldNames[] {
  const last = known.at(-1);
  const same = last && Object.keys(last.names).length === fields.length && fields.every(({ id, name, field_type }) => last.names[name] === id && last.types[id] === field_type);
  if (same) return known;
  return [...known, { revision, names: Object.fromEntries(fields.map(({ name, id }) => [name, id])), types: Object.fromEntries(fields.map(({ id, field_type }) => [id, field_type])) }];
}

/** A content type as its events make it. */
export type ContentTypeState = { readonly status: 'none' | 'live' | 'deleted'; readonly definition: ContentTypeDefinition | undefined };

const TYPES: ReadonlySet<string> = new Set<ContentTypeEvent['type']>([
  'ContentTypeSaved', 'ContentTypeRenamed', 'ContentTypeFieldRenamed', 'ContentTypeStatementsApplied', 'ContentTypeDeleted',
]);

export const contentTypeDecider: Decider<ContentTypeState, ContentTypeEvent> = {
  initialState: () => ({ status: 'none', definition: undefined }),
  evolve(state, event) {
    if (event.type === 'ContentTypeDeleted') return { status: 'deleted', definition: undefined };
    return event.type === 'ContentTypeStatementsApplied' ? state : { status: 'live', definition: event.data.definition };
  },
};

/** Whether a stored event is one of a content type. */
export function isContentTypeEvent(event: RecordedEvent): event is RecordedEvent & ContentTypeEvent {
  return TYPES.has(event.type);
}

/**
 * Name of the content type whose definition or table an event changes; undefined for a rename, which other types of the tenant may follow:
 * any of theirs may have changed.
 */
export function changedName(event: ContentTypeEvent): string | undefined {
  if (event.type === 'ContentTypeSaved') return event.data.definition.name;
  return event.type === 'ContentTypeRenamed' || event.type === 'ContentTypeFieldRenamed' ? undefined : event.data.name;
}

/** @throws TypeError for an event that is none of a content type: the stream holds what it must not. */
export function parseContentTypeEvent(event: RecordedEvent): ContentTypeEvent {
  if (!isContentTypeEvent(event)) throw new TypeError(`not an event of a content type: ${event.type}`);
  return event;
}
