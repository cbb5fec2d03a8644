import type { StoredContentType } from './content-type.ts';
import { type ColumnType, isStored } from './field-types.ts';
import { type TableUse, columnOf, isIndexed } from './schema-diff.ts';
import type { Column, SchemaOperation, TableIndex } from './schema-operation.ts';

/** Columns and indexes of a content type's table, besides the ones that every table has. */
export type TableShape = { readonly columns: readonly Column[]; readonly indexes: readonly TableIndex[] };

/** What a content type keeps in its table. */
export function tableUseOf({ definition, retained }: Pick<StoredContentType, 'definition' | 'retained'>): TableUse {
  return { fields: definition.fields, retained, with_draft_publish: definition.with_draft_publish };
}

/**
 * The shape of the table that these content types need together. It depends only on their definitions, not on the
 * history of changes.
 * @returns undefined when no type uses the table; then it does not exist
 */
export function tableShape(uses: readonly TableUse[]): TableShape | undefined {
  if (uses.length === 0) return undefined;
  const fields = uses.flatMap(({ fields: current, retained }) => [...current, ...retained]).filter(isStored);
  const columns = new Map<string, Column>();
  for (const column of fields.map(columnOf)) if (!columns.has(column.name)) columns.set(column.name, column);
  const indexed = new Set(fields.filter(isIndexed).map((field) => columnOf(field).name));
  const indexes: TableIndex[] = [...columns.values()]
    .filter(({ name }) => indexed.has(name))
    .map((column) => ({ kind: 'column', column }));
  if (uses.some(({ with_draft_publish: on }) => on === true)) indexes.push({ kind: 'status' });
  return { columns: [...columns.values()], indexes };
}

/** Operations that change one shape into the other. Columns that are dropped must hold no values in use. */
export function reshape(before: TableShape | undefined, after: TableShape | undefined): readonly SchemaOperation[] {
  if (!after) return before ? [{ op: 'drop_empty_table', ...before }] : [];
  if (!before)
    return [
      { op: 'create_table', columns: after.columns },
      ...after.indexes.map((index) => ({ op: 'create_index', index }) as const),
    ];
  const existing = new Map(before.columns.map(({ name, type }) => [name, type]));
  const columnNames = new Set(after.columns.map(({ name }) => name));
  const [had, has] = [new Set(before.indexes.map(keyOfIndex)), new Set(after.indexes.map(keyOfIndex))];
  return [
    // The expression of an index depends on the column's type.
    ...before.indexes
      .filter((index) => !has.has(keyOfIndex(index)))
      .map((index) => ({ op: 'drop_index', index }) as const),
    ...before.columns
      .filter(({ name }) => !columnNames.has(name))
      .map((column) => ({ op: 'drop_empty_column', column }) as const),
    ...after.columns.flatMap((column) => changeOf(column, existing.get(column.name))),
    ...after.indexes
      .filter((index) => !had.has(keyOfIndex(index)))
      .map((index) => ({ op: 'create_index', index }) as const),
  ];
}

function changeOf(column: Column, from: ColumnType | undefined): readonly SchemaOperation[] {
  if (from === undefined) return [{ op: 'add_column', column }];
  const { name, type: to } = column;
  if (from === to || from === 'uuid[]' || to === 'uuid[]') return [];
  return [{ op: 'convert_column', column: name, from, to }];
}

/** The column's type is part of the key, because a change of the type needs another index. */
function keyOfIndex(index: TableIndex): string {
  return index.kind === 'status' ? '' : `${index.column.name} ${index.column.type}`;
}
