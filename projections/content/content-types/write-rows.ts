import type { ContentTypeDefinition, FieldDefinition } from '../../../domain/content/definition.ts';
import type { FieldNames } from '../../../domain/content/field-history.ts';
import type { SchemaStatement } from '../../../domain/content/schema-statement.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';

/** A content type after an event. */
export type TypeRow = {
  readonly typeId: string;
  readonly definition: ContentTypeDefinition;
  readonly retained: readonly FieldDefinition[];
  readonly fieldNames: readonly FieldNames[];
};

/** Writes a content type after an event of its stream. A deleted type becomes live again. */
export async function writeType(
  tx: Transaction,
  { schema }: Target,
  { event, typeId, definition, retained, fieldNames }: TypeRow & { readonly event: RecordedEvent },
): Promise<void> {
  await tx.query(
    `insert into ${schema}._content_types (type_id, tenant_id, name, revision, definition, retained, field_names,
     applied_revision, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, -1, $8, $8)
     on conflict (type_id) do update
       set name = excluded.name, revision = excluded.revision, definition = excluded.definition,
       retained = excluded.retained, field_names = excluded.field_names, updated_at = excluded.updated_at,
       deleted_at = null`,
    [
      typeId,
      event.metadata.tenant,
      definition.name,
      event.revision,
      json(definition),
      json(retained),
      json(fieldNames),
      event.metadata.occurred_at,
    ],
  );
}

/** Adds the statements of an event to the history: destructive ones as pending, the others as applied by the event. */
export async function addStatements(
  tx: Transaction,
  { schema }: Target,
  {
    event,
    typeId,
    statements,
  }: { readonly event: RecordedEvent; readonly typeId: string; readonly statements: readonly SchemaStatement[] },
): Promise<void> {
  if (statements.length === 0) return;
  await tx.query(
    `insert into ${schema}._statements
       (id, tenant_id, type_id, revision, ordinal, description, sql, down_sql, destructive, operation, state,
         settled_revision, created_at, applied_at, actor)
     select s.id, $2, $3, $4, s.ordinal, s.description, s.sql, s.down_sql, s.destructive, s.operation,
       case when s.destructive then 'pending' else 'applied' end, $4, $5::timestamptz,
         case when s.destructive then null else $5::timestamptz end, $6
     from json_to_recordset($1) as s (id uuid, ordinal int4, description text, sql text, down_sql text,
       destructive boolean, operation json)`,
    [
      json(
        statements.map((statement, ordinal) => ({
          ...statement,
          ordinal,
          destructive: statement.destructive === true,
        })),
      ),
      event.metadata.tenant,
      typeId,
      event.revision,
      event.metadata.occurred_at,
      json(event.metadata.actor),
    ],
  );
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
