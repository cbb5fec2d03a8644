import type { ContentTypeDefinition, FieldDefinition, SchemaStatement } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { isManyToMany, isStored, sqlTypeOf } from './field-types.ts';
import { InvalidDefinition } from './invalid-definition.ts';
import type { Column, SchemaOperation, TableIndex } from './schema-operation.ts';
import { LIVE_SCHEMA, renderOperation } from './table-ddl.ts';

/** What one content type keeps in its shared table: the fields in force and those whose removal is queued. */
export type TableUse = {
  readonly fields: readonly FieldDefinition[];
  readonly retained: readonly FieldDefinition[];
  readonly with_draft_publish?: boolean | undefined;
};

/** A queued statement. */
export type PendingStatement = { readonly id: string; readonly operation: SchemaOperation };

export type SchemaChange = {
  readonly tenant: string;
  /** The definition in force; undefined for a new type. */
  readonly before: ContentTypeDefinition | undefined;
  readonly retained: readonly FieldDefinition[];
  readonly pending: readonly PendingStatement[];
  readonly after: ContentTypeDefinition;
  /** The other tenants' content types on the same table. */
  readonly others: readonly TableUse[];
  readonly newId: () => string;
};

/** A condition on stored values that a save needs; asked of the table before the event is written. */
export type ValueCheck = { readonly kind: 'required' | 'unique'; readonly column: Column; readonly field: FieldDefinition };

export type SchemaDifference = {
  /** In the order they run; the destructive ones are queued. */
  readonly statements: readonly SchemaStatement[];
  /** Queued statements that this save takes back. */
  readonly canceled: readonly string[];
  /** Removed fields whose values stay until a queued statement runs. */
  readonly retained: readonly FieldDefinition[];
  readonly checks: readonly ValueCheck[];
  /** Fields as they were whose unique values are to be set free. */
  readonly released: readonly FieldDefinition[];
  /** How another tenant's type stores a field differently; then nothing of the rest holds. */
  readonly conflict: string | undefined;
};

/**
 * Compares a definition with the stored one (spec 2, save semantics; spec 4 B for tables that tenants share).
 * @throws InvalidDefinition for a change that has no conversion: between relation kinds, or from and to relations
 */
export function diffContentType(change: SchemaChange): SchemaDifference {
  const { before, after, others, pending, tenant } = change;
  const own = [...(before?.fields ?? []), ...change.retained];
  const foreign = others.flatMap(({ fields, retained }) => [...fields, ...retained]);
  const conflict = findConflict(after.fields, foreign);
  for (const field of after.fields) refuseRelationChange(field, own.find(({ name }) => name === field.name));
  for (const field of after.fields) refuseQueuedColumn(field, change.retained);

  const again = change.retained.filter(({ name }) => after.fields.some((field) => field.name === name));
  const removed = (before?.fields ?? []).filter((field) => isStored(field) && !after.fields.some(({ name }) => name === field.name));
  const options = optionOperations(before, after, tenant);
  const operations = [
    ...tableOperations(change, own, foreign),
    ...removed.map((field) => removal(field, foreign, tenant)),
    ...options,
  ];
  return {
    statements: operations.map((operation) => toStatement(operation, after.name, change.newId())),
    canceled: pending.filter(({ operation }) => isCanceled(operation, again, after)).map(({ id }) => id),
    retained: [...change.retained.filter((field) => !again.includes(field)), ...removed],
    checks: valueChecks(before, own, after),
    released: releasedFields(before, after),
    conflict,
  };
}

/** Column of a field that has one. */
export function columnOf(field: FieldDefinition): Column {
  return { name: keyOf(field), type: sqlTypeOf(field) };
}

/** An operation as a statement of history, rendered for the live schema. */
export function toStatement(operation: SchemaOperation, table: string, id: string): SchemaStatement {
  const { destructive, ...text } = renderOperation(operation, { schema: LIVE_SCHEMA, table });
  return { id, ...text, ...(destructive ? { destructive } : {}), operation };
}

/** Statements that bring the table to the definition without losing a value. */
function tableOperations({ before, after, others }: SchemaChange, own: readonly FieldDefinition[], foreign: readonly FieldDefinition[]): readonly SchemaOperation[] {
  const there = new Map([...own, ...foreign].filter(isStored).map((field) => [keyOf(field), columnOf(field).type]));
  const stored = after.fields.filter(isStored);
  const isNew = before === undefined && own.length === 0 && others.length === 0;
  const operations: SchemaOperation[] = isNew ? [{ op: 'create_table', columns: stored.map(columnOf) }] : [];
  for (const field of stored) {
    const column = columnOf(field);
    const from = there.get(column.name);
    const previous = own.find((known) => isStored(known) && keyOf(known) === column.name);
    const indexed = { own: previous !== undefined && isIndexed(previous), foreign: foreign.some((known) => keyOf(known) === column.name && isIndexed(known)) };
    const index: TableIndex = { kind: 'column', column };
    if (from === undefined) {
      if (!isNew) operations.push({ op: 'add_column', column });
      if (isIndexed(field)) operations.push({ op: 'create_index', index });
    } else if (from !== 'uuid[]' && column.type !== 'uuid[]' && from !== column.type) {
      // An index expression does not outlive its column's type.
      if (indexed.own) operations.push({ op: 'drop_index', index: { kind: 'column', column: { name: column.name, type: from } } });
      operations.push({ op: 'convert_column', column: column.name, from, to: column.type });
      if (isIndexed(field)) operations.push({ op: 'create_index', index });
    } else if (isIndexed(field)) {
      if (!indexed.own && !indexed.foreign) operations.push({ op: 'create_index', index });
    } else if (indexed.own && !indexed.foreign) {
      operations.push({ op: 'drop_index', index });
    }
  }
  const isWantedElsewhere = others.some(({ with_draft_publish: on }) => on === true);
  const hasStatusIndex = before?.with_draft_publish === true || isWantedElsewhere;
  if (after.with_draft_publish === true && !hasStatusIndex) operations.push({ op: 'create_index', index: { kind: 'status' } });
  if (after.with_draft_publish !== true && before?.with_draft_publish === true && !isWantedElsewhere) operations.push({ op: 'drop_index', index: { kind: 'status' } });
  return operations;
}

function removal(field: FieldDefinition, foreign: readonly FieldDefinition[], tenant: string): SchemaOperation {
  const shared = foreign.some((other) => isStored(other) && keyOf(other) === keyOf(field));
  return shared ? { op: 'clear_column', column: columnOf(field), tenant } : dropColumn(field);
}

/** The removal of a field's column, with the index that an undo would make again. */
export function dropColumn(field: FieldDefinition): SchemaOperation {
  return { op: 'drop_column', column: columnOf(field), ...(isIndexed(field) ? { indexed: true } : {}) };
}

function optionOperations(before: ContentTypeDefinition | undefined, after: ContentTypeDefinition, tenant: string): readonly SchemaOperation[] {
  const operations: SchemaOperation[] = [];
  if (before?.with_soft_delete === true && after.with_soft_delete !== true) operations.push({ op: 'purge_deleted', tenant });
  if (before?.with_draft_publish === true && after.with_draft_publish !== true) operations.push({ op: 'publish_all', tenant });
  return operations;
}

function isCanceled(operation: SchemaOperation, again: readonly FieldDefinition[], after: ContentTypeDefinition): boolean {
  switch (operation.op) {
    case 'drop_column':
    case 'clear_column':
      return again.some((field) => isStored(field) && keyOf(field) === operation.column.name);
    case 'drop_link':
    case 'clear_link':
      return again.some((field) => isManyToMany(field) && field.name === operation.field);
    case 'purge_deleted':
      return after.with_soft_delete === true;
    case 'publish_all':
      return after.with_draft_publish === true;
    default:
      return false;
  }
}

/** What must hold for stored entries because a switch was turned on; a new table holds none, and a new field has no value anywhere. */
function valueChecks(before: ContentTypeDefinition | undefined, own: readonly FieldDefinition[], after: ContentTypeDefinition): readonly ValueCheck[] {
  if (before === undefined) return [];
  return after.fields.filter(isStored).flatMap((field) => {
    const previous = before.fields.find(({ name }) => name === field.name);
    const hasValues = own.some(({ name }) => name === field.name);
    const column = columnOf(field);
    const checks: ValueCheck[] = [];
    // A field that is new and required is like one that becomes so: spec 2 lets it be added, entries without a value stay.
    if (field.required === true && previous !== undefined && previous.required !== true && field.default === undefined) checks.push({ kind: 'required', column, field });
    const changed = previous?.unique !== true || sqlTypeOf(previous) !== column.type;
    if (field.unique === true && hasValues && changed) checks.push({ kind: 'unique', column, field });
    return checks;
  });
}

/** A field that is removed keeps its values and their claims until the queued statement runs. */
function releasedFields(before: ContentTypeDefinition | undefined, after: ContentTypeDefinition): readonly FieldDefinition[] {
  return (before?.fields ?? []).filter((previous) => {
    const field = after.fields.find(({ name }) => name === previous.name);
    return previous.unique === true && field !== undefined && (field.unique !== true || columnOf(field).type !== columnOf(previous).type);
  });
}

/** How another content type on the table stores one of the fields differently (spec 4 B); undefined where none does. */
export function findConflict(fields: readonly FieldDefinition[], foreign: readonly FieldDefinition[]): string | undefined {
  for (const field of fields.filter(isStored)) {
    const other = foreign.find((known) => isStored(known) && (keyOf(known) === keyOf(field) || known.name === field.name) && storage(known) !== storage(field));
    if (other) return `field "${field.name}" is ${storage(other)} there and ${storage(field)} here`;
  }
  return undefined;
}

function storage(field: FieldDefinition): string {
  return `${keyOf(field) === field.name ? '' : `${keyOf(field)} `}${columnOf(field).type}`;
}

/** A column whose removal is queued belongs to the field that it was. */
function refuseQueuedColumn(field: FieldDefinition, retained: readonly FieldDefinition[]): void {
  const queued = retained.find((other) => isStored(other) && other.name !== field.name && keyOf(other) === keyOf(field));
  if (queued && isStored(field)) throw new InvalidDefinition(`field "${field.name}": its column is that of "${queued.name}", whose removal is queued; apply it first`);
}

function refuseRelationChange(field: FieldDefinition, previous: FieldDefinition | undefined): void {
  if (!previous) return;
  if (side(field) === side(previous)) return;
  throw new InvalidDefinition(`field "${field.name}": a relation does not convert into another kind or type; remove it and add a field of another name`);
}

/** Where a field's values live. */
function side(field: FieldDefinition): string {
  if (isManyToMany(field)) return 'many_to_many';
  if (!isStored(field)) return 'other side';
  return field.field_type === 'relation' ? 'belongs_to' : 'column';
}

/** Whether a field's column has an index: a relation's always, for the other side's reads and for deletions of what it names. */
export function isIndexed(field: FieldDefinition): boolean {
  return isStored(field) && (field.indexed === true || field.unique === true || field.field_type === 'relation');
}
