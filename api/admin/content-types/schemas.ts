import { Type } from '@sinclair/typebox';
import { FIELD_TYPES, RELATION_TYPES, TRANSPORT_MODES } from '../../../domain/content/definition.ts';
import { Actor, Id, NullableText, oneOf } from '../../http/schemas.ts';

const Mode = Type.Optional(oneOf(TRANSPORT_MODES));

/** A field in a response. */
const Field = Type.Object({
  name: Type.String(),
  field_type: oneOf(FIELD_TYPES),
  required: Type.Boolean(),
  unique: Type.Boolean(),
  indexed: Type.Boolean(),
  localized: Type.Boolean(),
  default: Type.Optional(Type.Unknown()),
  validation: Type.Optional(
    Type.Array(Type.Object({ rule: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) })),
  ),
  relation_to: Type.Optional(Type.String()),
  relation_type: Type.Optional(oneOf(RELATION_TYPES)),
  relation_field: Type.Optional(Type.String()),
});

/** A content type in a response. */
export const ContentType = Type.Object({
  name: Type.String(),
  display_name: Type.String(),
  fields: Type.Array(Field),
  with_created_at: Type.Boolean(),
  with_updated_at: Type.Boolean(),
  with_soft_delete: Type.Boolean(),
  with_draft_publish: Type.Boolean(),
  transports: Type.Optional(Type.Object({ rest: Mode, graphql: Mode, grpc: Mode })),
});

/** Any JSON: the parser of definitions checks it and refuses with its own messages. */
export const DefinitionBody = Type.Unknown({
  description:
    'A content type definition, with the members of the response; only `name` and `fields` with `name` and `field_type` are ' +
    'required. `validation` is a list of `{rule, params}`; the rules and their params: `enum` (`values`), `min` and ' +
    '`max` (`value`), `min_length` and `max_length` (`value`), `pattern` (`pattern`, in the syntax of RE2), `compare` ' +
    '(`op`: eq, ne, gt, gte, lt or lte; `field`). In entries a belongs_to relation `author` is the value `author_id`.',
});

export const Statement = Type.Object({
  description: Type.String(),
  sql: Type.String(),
  down_sql: Type.String(),
  destructive: Type.Optional(Type.Boolean()),
});

/** A statement of the history; `reason` is present only if the database refused it. */
const RecordedStatement = Type.Object({
  id: Id,
  description: Type.String(),
  sql: Type.String(),
  down_sql: Type.String(),
  destructive: Type.Boolean(),
  state: oneOf(['applied', 'pending', 'canceled', 'failed']),
  applied_at: NullableText,
  created_at: Type.String(),
  actor: Actor,
  reason: Type.Optional(Type.String()),
});

export const StatementHistory = Type.Object({ statements: Type.Array(RecordedStatement), pending: Type.Integer() });

/** Pending statements by content type. */
export const PendingStatements = Type.Object({
  pending: Type.Record(Type.String(), Type.Array(RecordedStatement)),
  total: Type.Integer(),
});

/** Counts of applied and canceled statements; `failed` is present only if the database refused some. */
export const AppliedCounts = Type.Object({
  applied: Type.Integer(),
  canceled: Type.Integer(),
  failed: Type.Optional(Type.Integer()),
});

/** As `AppliedCounts`; `count` is the number of statements that ran. */
export const MigrationCounts = Type.Object({ count: Type.Integer(), ...AppliedCounts.properties });

/** `{"new_name": …}`; any JSON, because the rename checks the name and refuses with its own messages. */
export const RenameBody = Type.Unknown({ description: '{"new_name": "…"}' });

export const RenamedField = Type.Object({
  schema: Type.String(),
  old_field: Type.String(),
  new_field: Type.String(),
});

export const ContentTypeStats = Type.Object({
  rows: Type.Integer(),
  last_updated: NullableText,
});

/**
 * Path parameters of routes of one content type. Any text: an unknown name is refused as not found, not as malformed.
 */
export const NameParams = Type.Object({ name: Type.String() });

export const FieldParams = Type.Object({ name: Type.String(), field: Type.String() });
