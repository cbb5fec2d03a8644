import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { columnTypeOf, isManyToMany, isStored } from './field-types.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import type { Column, SchemaOperation, TableIndex } from './schema-operation.ts';
import { findConflict } from './shared-table-conflict.ts';

/** What one content type keeps in its table, which types of other tenants may share. */
export type TableUse = {
  /** The current fields. */
  readonly fields: readonly FieldDefinition[];
  /** Removed fields whose values are kept until a pending statement runs. */
  readonly retained: readonly FieldDefinition[];
  readonly with_draft_publish?: boolean | undefined;
};

/** A queued destructive schema change. */
export type PendingStatement = { readonly id: string; readonly operation: SchemaOperation };

export type SchemaChange = {
  readonly tenant: string;
  /** The current definition; undefined for a new type. */
  readonly before: ContentTypeDefinition | undefined;
  readonly retained: readonly FieldDefinition[];
  readonly pending: readonly PendingStatement[];
  readonly after: ContentTypeDefinition;
  /** The content types of other tenants in the same table. */
  readonly others: readonly TableUse[];
};

/** A condition on the stored values that a save needs. It is checked in the database before the event is appended. */
export type ValueCheck = {
  readonly kind: 'required' | 'unique';
  readonly column: Column;
  readonly field: FieldDefinition;
};

export type SchemaDifference = {
  /** In the order in which they run. The destructive ones are queued. */
  readonly operations: readonly SchemaOperation[];
  /** Ids of the pending statements that this save cancels. */
  readonly canceled: readonly string[];
  /** Removed fields whose values are kept until a pending statement runs. */
  readonly retained: readonly FieldDefinition[];
  readonly checks: readonly ValueCheck[];
  /** Fields, in their definition before the save, whose unique values are released. */
  readonly released: readonly FieldDefinition[];
  /** How another tenant's type stores a field differently. When it is defined, the save must be refused. */
  readonly conflict: string | undefined;
};

/**
 * Compares a definition with the stored one.
 * @throws InvalidDefinition for a change without a conversion: between kinds of relations, from or to a relation, or to
 *   a column whose removal is pending
 */
export function diffContentType(change: SchemaChange): SchemaDifference {
  const { before, after, others, pending, tenant } = change;
  const own = [...(before?.fields ?? []), ...change.retained];
  const foreign = others.flatMap(({ fields, retained }) => [...fields, ...retained]);
  const conflict = findConflict(after.fields, foreign);
  for (const field of after.fields)
    refuseRelationChange(
      field,
      own.find(({ name }) => name === field.name),
    );
  for (const field of after.fields) refusePendingColumn(field, change.retained);

  const restored = change.retained.filter(({ name }) => after.fields.some((field) => field.name === name));
  const removed = (before?.fields ?? []).filter(
    (field) => isStored(field) && !after.fields.some(({ name }) => name === field.name),
  );
  return {
    operations: [
      ...tableOperations(change, own, foreign),
      ...removed.map((field) => removal(field, foreign, tenant)),
      ...optionOperations(before, after, tenant),
    ],
    canceled: pending.filter(({ operation }) => isCanceled(operation, restored, after)).map(({ id }) => id),
    retained: [...change.retained.filter((field) => !restored.includes(field)), ...removed],
    checks: valueChecks(before, own, after),
    released: releasedFields(before, after),
    conflict,
  };
}

/** The column of a stored field. */
export function columnOf(field: FieldDefinition): Column {
  return { name: keyOf(field), type: columnTypeOf(field) };
}

/** Operations that change the table to the definition without losing a value. */
function tableOperations(
  { before, after, others }: SchemaChange,
  own: readonly FieldDefinition[],
  foreign: readonly FieldDefinition[],
): readonly SchemaOperation[] {
  const existing = new Map([...own, ...foreign].filter(isStored).map((field) => [keyOf(field), columnOf(field).type]));
  const stored = after.fields.filter(isStored);
  const isNew = before === undefined && own.length === 0 && others.length === 0;
  const operations: SchemaOperation[] = isNew ? [{ op: 'create_table', columns: stored.map(columnOf) }] : [];
  for (const field of stored) {
    const column = columnOf(field);
    const from = existing.get(column.name);
    const previous = own.find((field) => isStored(field) && keyOf(field) === column.name);
    const indexed = {
      own: previous !== undefined && isIndexed(previous),
      foreign: foreign.some((field) => keyOf(field) === column.name && isIndexed(field)),
    };
    const index: TableIndex = { kind: 'column', column };
    if (from === undefined) {
      if (!isNew) operations.push({ op: 'add_column', column });
      if (isIndexed(field)) operations.push({ op: 'create_index', index });
    } else if (from !== 'uuid[]' && column.type !== 'uuid[]' && from !== column.type) {
      // The expression of an index depends on the column's type.
      if (indexed.own)
        operations.push({ op: 'drop_index', index: { kind: 'column', column: { name: column.name, type: from } } });
      operations.push({ op: 'convert_column', column: column.name, from, to: column.type });
      if (isIndexed(field)) operations.push({ op: 'create_index', index });
    } else if (isIndexed(field)) {
      if (!indexed.own && !indexed.foreign) operations.push({ op: 'create_index', index });
    } else if (indexed.own && !indexed.foreign) {
      operations.push({ op: 'drop_index', index });
    }
  }
  return [...operations, ...statusIndexOperations({ before, after, others })];
}

function statusIndexOperations({
  before,
  after,
  others,
}: Pick<SchemaChange, 'before' | 'after' | 'others'>): readonly SchemaOperation[] {
  const isUsedByOthers = others.some(({ with_draft_publish: on }) => on === true);
  const [had, has] = [before?.with_draft_publish === true, after.with_draft_publish === true];
  if (has && !had && !isUsedByOthers) return [{ op: 'create_index', index: { kind: 'status' } }];
  if (had && !has && !isUsedByOthers) return [{ op: 'drop_index', index: { kind: 'status' } }];
  return [];
}

function removal(field: FieldDefinition, foreign: readonly FieldDefinition[], tenant: string): SchemaOperation {
  const shared = foreign.some((other) => isStored(other) && keyOf(other) === keyOf(field));
  return shared ? { op: 'clear_column', column: columnOf(field), tenant } : dropColumn(field);
}

/** Drops a field's column. It records the index, so that the undo statement can create it again. */
export function dropColumn(field: FieldDefinition): SchemaOperation {
  return { op: 'drop_column', column: columnOf(field), ...(isIndexed(field) ? { indexed: true } : {}) };
}

function optionOperations(
  before: ContentTypeDefinition | undefined,
  after: ContentTypeDefinition,
  tenant: string,
): readonly SchemaOperation[] {
  const operations: SchemaOperation[] = [];
  if (before?.with_soft_delete === true && after.with_soft_delete !== true)
    operations.push({ op: 'purge_deleted', tenant });
  if (before?.with_draft_publish === true && after.with_draft_publish !== true)
    operations.push({ op: 'publish_all', tenant });
  return operations;
}

/** Whether a save that restores these fields cancels a pending operation. */
function isCanceled(
  operation: SchemaOperation,
  restored: readonly FieldDefinition[],
  after: ContentTypeDefinition,
): boolean {
  switch (operation.op) {
    case 'drop_column':
    case 'clear_column':
      return restored.some((field) => isStored(field) && keyOf(field) === operation.column.name);
    case 'drop_link':
    case 'clear_link':
      return restored.some((field) => isManyToMany(field) && field.name === operation.field);
    case 'purge_deleted':
      return after.with_soft_delete === true;
    case 'publish_all':
      return after.with_draft_publish === true;
    default:
      return false;
  }
}

/**
 * The conditions on stored values for options that the save turns on. New types and new fields have no stored values.
 */
function valueChecks(
  before: ContentTypeDefinition | undefined,
  own: readonly FieldDefinition[],
  after: ContentTypeDefinition,
): readonly ValueCheck[] {
  if (before === undefined) return [];
  return after.fields.filter(isStored).flatMap((field) => {
    const previous = before.fields.find(({ name }) => name === field.name);
    const hasValues = own.some(({ name }) => name === field.name);
    const column = columnOf(field);
    const checks: ValueCheck[] = [];
    // A new required field is allowed: entries without a value stay as they are.
    if (field.required === true && previous !== undefined && previous.required !== true && field.default === undefined)
      checks.push({ kind: 'required', column, field });
    const changed = previous?.unique !== true || columnTypeOf(previous) !== column.type;
    if (field.unique === true && hasValues && changed) checks.push({ kind: 'unique', column, field });
    return checks;
  });
}

/**
 * Fields that are no longer unique, or whose values are converted. A removed field keeps its claims until its pending
 * statement runs.
 */
function releasedFields(
  before: ContentTypeDefinition | undefined,
  after: ContentTypeDefinition,
): readonly FieldDefinition[] {
  return (before?.fields ?? []).filter((previous) => {
    const field = after.fields.find(({ name }) => name === previous.name);
    return (
      previous.unique === true &&
      field !== undefined &&
      (field.unique !== true || columnOf(field).type !== columnOf(previous).type)
    );
  });
}

/** While its removal is pending, a column belongs to the removed field. */
function refusePendingColumn(field: FieldDefinition, retained: readonly FieldDefinition[]): void {
  const queued = retained.find(
    (other) => isStored(other) && other.name !== field.name && keyOf(other) === keyOf(field),
  );
  if (queued && isStored(field))
    throw new InvalidDefinition(
      `field "${field.name}": its column is that of "${queued.name}", whose removal is queued; apply it first`,
    );
}

function refuseRelationChange(field: FieldDefinition, previous: FieldDefinition | undefined): void {
  if (!previous) return;
  if (storageKind(field) === storageKind(previous)) return;
  throw new InvalidDefinition(
    `field "${field.name}": a relation does not convert into another kind or type; ` +
      'remove it and add a field of another name',
  );
}

/** How a field's values are stored. A field can only change to a type with the same kind. */
function storageKind(field: FieldDefinition): string {
  if (isManyToMany(field)) return 'many_to_many';
  if (!isStored(field)) return 'other side';
  return field.field_type === 'relation' ? 'belongs_to' : 'column';
}

/**
 * Whether a field's column has an index. The columns of relations always have one, for reads and deletions of the
 * related entries.
 */
export function isIndexed(field: FieldDefinition): boolean {
  return isStored(field) && (field.indexed === true || field.unique === true || field.field_type === 'relation');
}
