import { fieldIds, isContentTypeEvent, withFieldNames } from '../../../domain/content/content-type.ts';
import type { ContentTypeEvent } from '../../../domain/content/events.ts';
import { projectedStatement } from '../../../domain/content/table-ddl.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { projectDeletion } from './project-deletion.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { dropView, refreshView } from './views.ts';

type Saved = RecordedEvent & Extract<ContentTypeEvent, { readonly type: 'ContentTypeSaved' }>;

/**
 * Applies one event of a content type: definitions, statements and the typed table change together. Entry events before it in the batch
 * must have been written, those after it see the new table.
 * @throws when a statement is refused; the projector stops
 */
export async function applyContentTypeEvent(tx: Transaction, target: Target, event: RecordedEvent): Promise<void> {
  if (!isContentTypeEvent(event)) throw new TypeError(`not an event of a content type: ${event.type}`);
  if (event.type === 'ContentTypeDeleted') await projectDeletion(tx, target, event);
  else await projectSave(tx, target, event);
}

async function projectSave(tx: Transaction, target: Target, event: Saved): Promise<void> {
  const { definition, statements, canceled, retained, type_id: typeId } = event.data;
  const { schema } = target;
  const live = schema === LIVE;
  const applied = statements.filter(({ destructive }) => destructive !== true);
  if (live && applied.some(({ operation }) => operation.op === 'convert_column')) await dropView(tx, definition.name);
  for (const { operation } of applied) await tx.query(projectedStatement(operation, { schema, table: definition.name }));

  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  const fieldNames = withFieldNames(before?.fieldNames ?? [], event.revision, fieldIds(definition.fields));
  const at = event.metadata.occurred_at;
  await tx.query(
    `insert into ${schema}._content_types (type_id, tenant_id, name, revision, definition, retained, field_names, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (type_id) do update set name = excluded.name, revision = excluded.revision, definition = excluded.definition,
       retained = excluded.retained, field_names = excluded.field_names, updated_at = excluded.updated_at, deleted_at = null`,
    [typeId, event.metadata.tenant, definition.name, event.revision, json(definition), json(retained), json(fieldNames), at],
  );
  if (canceled.length > 0) {
    await tx.query(`update ${schema}._statements set state = 'canceled' where id = any ($1::uuid[]) and type_id = $2 and state = 'pending'`, [canceled, typeId]);
  }
  if (statements.length > 0) {
    await tx.query(
      `insert into ${schema}._statements
         (id, tenant_id, type_id, revision, ordinal, description, sql, down_sql, destructive, operation, state, created_at, applied_at, actor)
       select s.id, $2, $3, $4, s.ordinal, s.description, s.sql, s.down_sql, s.destructive, s.operation,
         case when s.destructive then 'pending' else 'applied' end, $5::timestamptz, case when s.destructive then null else $5::timestamptz end, $6
       from json_to_recordset($1) as s (id uuid, ordinal int4, description text, sql text, down_sql text, destructive boolean, operation json)`,
      [json(statements.map((statement, ordinal) => ({ ...statement, ordinal, destructive: statement.destructive === true }))),
        event.metadata.tenant, typeId, event.revision, at, json(event.metadata.actor)],
    );
  }
  if (live && (applied.length > 0 || !before)) await refreshView(tx, definition.name);
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
