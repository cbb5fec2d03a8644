import { Type } from '@sinclair/typebox';
import type { CanvasLayoutEvent } from '../../../domain/content/canvas-layout-events.ts';
import type { CommentEvent } from '../../../domain/content/comment-events.ts';
import type { ContentTypeEvent } from '../../../domain/content/content-type-events.ts';
import { FIELD_TYPES, RELATION_TYPES, TRANSPORT_MODES } from '../../../domain/content/definition.ts';
import type { EntryEvent } from '../../../domain/content/entry-events.ts';
import type { PresetEvent } from '../../../domain/content/preset-events.ts';
import { RELEASE_ACTIONS, type ReleaseEvent } from '../../../domain/content/release-events.ts';
import type { SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { Id, Texts, Timestamp, nullable, oneOf } from '../../http/schemas.ts';
import { AnyJson, AnyObject, EventActor, type EventSchemas, Nothing, SealedValue } from './event-schemas.ts';

const Mode = Type.Optional(oneOf(TRANSPORT_MODES));
const Flag = Type.Optional(Type.Boolean());
const Status = oneOf(['draft', 'published', 'archived']);
const FieldValues = Type.Record(Type.String(), AnyJson, {
  description: 'Values by the name that the field had at that time; null: no value',
});

const Field = Type.Object(
  {
    id: Type.String({ description: 'Does not change when the field is renamed' }),
    name: Type.String(),
    field_type: oneOf(FIELD_TYPES),
    required: Flag,
    unique: Flag,
    indexed: Flag,
    localized: Flag,
    default: Type.Optional(AnyJson),
    validation: Type.Optional(
      Type.Array(Type.Object({ rule: Type.String(), params: Type.Record(Type.String(), AnyJson) })),
    ),
    relation_to: Type.Optional(Type.String()),
    relation_type: Type.Optional(oneOf(RELATION_TYPES)),
    relation_field: Type.Optional(Type.String()),
  },
  { title: 'FieldDefinition' },
);

const Definition = Type.Object(
  {
    name: Type.String(),
    display_name: Type.Optional(Type.String()),
    fields: Type.Array(Field),
    with_created_at: Flag,
    with_updated_at: Flag,
    with_soft_delete: Flag,
    with_draft_publish: Flag,
    transports: Type.Optional(Type.Object({ rest: Mode, graphql: Mode, grpc: Mode })),
  },
  { title: 'ContentTypeDefinition' },
);

const Statement = Type.Object(
  {
    id: Type.String(),
    description: Type.String(),
    sql: Type.String(),
    down_sql: Type.String(),
    destructive: Flag,
    table: Type.Optional(Type.String()),
    operation: Type.Unsafe<SchemaOperation>({
      type: 'object',
      required: ['op'],
      properties: { op: { type: 'string' } },
      description: 'The change as data',
    }),
  },
  { title: 'SchemaStatement' },
);
const Statements = Type.Array(Statement);
const Fields = Type.Array(Field);

export const CONTENT_TYPE_EVENTS: EventSchemas<ContentTypeEvent> = {
  ContentTypeSaved: Type.Object({
    type_id: Id,
    definition: Definition,
    statements: Statements,
    canceled: Texts,
    retained: Fields,
    adopted: Flag,
  }),
  ContentTypeRenamed: Type.Object({ type_id: Id, from: Type.String(), definition: Definition, statements: Statements }),
  ContentTypeFieldRenamed: Type.Object({
    type_id: Id,
    field_id: Type.String(),
    from: Type.String(),
    to: Type.String(),
    definition: Definition,
    retained: Fields,
    statements: Statements,
  }),
  ContentTypeStatementsApplied: Type.Object({
    type_id: Id,
    name: Type.String(),
    applied: Statements,
    statements: Statements,
    failed: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() })),
    retained: Fields,
  }),
  ContentTypeDeleted: Type.Object({ type_id: Id, name: Type.String(), content: oneOf(['hard', 'soft']) }),
};

const entry = {
  type_id: Id,
  schema: Type.String({ description: 'The name of the content type at that time' }),
  type_revision: Type.Integer(),
  compensates: Type.Optional(
    Type.Object(
      { revision: Type.Integer(), reason: Type.String({ description: 'The code of the refusal of the request' }) },
      { description: 'Set when the event takes back the events of a refused request, up to the revision' },
    ),
  ),
};
const slug = { slug: Type.Optional(Type.String()) };
const StatusChange = Type.Object({
  ...entry,
  release_id: Type.Optional(Type.String({ description: 'The release that changed the status, if any' })),
});

export const ENTRY_EVENTS: EventSchemas<EntryEvent> = {
  EntryCreated: Type.Object({ ...entry, fields: FieldValues, status: Status, ...slug }),
  EntryFieldsChanged: Type.Object({
    ...entry,
    fields: FieldValues,
    ...slug,
    restored_version: Type.Optional(Type.Integer({ description: 'The version whose values were restored' })),
  }),
  EntryPublished: StatusChange,
  EntryUnpublished: StatusChange,
  EntryArchived: StatusChange,
  EntryUnarchived: Type.Object(entry),
  EntryDeleted: Type.Object({
    ...entry,
    soft: Type.Optional(Type.Boolean({ description: 'Soft delete: the entry is kept and hidden' })),
  }),
  EntryUndeleted: Type.Object({
    ...entry,
    whole: Type.Object({
      fields: FieldValues,
      status: Status,
      ...slug,
      created_at: Timestamp,
      created_by: EventActor,
      published_at: Type.Optional(Timestamp),
    }),
  }),
};

export const COMMENT_EVENTS: EventSchemas<CommentEvent> = {
  CommentAdded: Type.Object({
    entry_id: Id,
    body: Type.String(),
    parent: Type.Optional(Type.String({ description: 'The comment that this one replies to' })),
  }),
  CommentDeleted: Type.Object({ entry_id: Id }),
};

const release = { name: Type.String(), description: Type.String(), scheduled_at: nullable(Timestamp) };
const item = { entry_id: Id, action: oneOf(RELEASE_ACTIONS) };
const RefusedItems = Type.Object({ refused: Type.Array(Type.Object({ entry_id: Id, error: Type.String() })) });

export const RELEASE_EVENTS: EventSchemas<ReleaseEvent> = {
  ReleaseCreated: Type.Object(release),
  ReleaseChanged: Type.Partial(Type.Object(release)),
  ReleaseEntriesSet: Type.Object({ items: Type.Array(Type.Object(item)) }),
  ReleasePublicationStarted: Type.Object({
    moves: Type.Array(Type.Object({ ...item, event_id: Type.String(), expected: Type.Integer(), from: Status })),
  }),
  ReleasePublicationReverting: RefusedItems,
  ReleasePublished: Nothing,
  ReleasePublicationFailed: RefusedItems,
  ReleaseDeleted: Nothing,
};

export const MODELLING_EVENTS: EventSchemas<PresetEvent | CanvasLayoutEvent> = {
  PresetSaved: Type.Object({
    preset: Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      schemas: Type.Array(AnyObject),
    }),
    source_url: nullable(SealedValue),
  }),
  PresetDeleted: Type.Object({ id: Type.String() }),
  CanvasLayoutChanged: Type.Object({
    moved: Type.Record(Type.String(), Type.Object({ x: Type.Number(), y: Type.Number() })),
    removed: Texts,
  }),
};
