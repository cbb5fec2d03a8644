import type { StoredContentType } from './content-type.ts';
import { isStored } from './field-types.ts';
import type { ColumnType } from './field-types.ts';
import { columnOf, isIndexed } from './schema-diff.ts';
import type { TableUse } from './schema-diff.ts';
import type { Column, SchemaOperation, TableIndex } from './schema-operation.ts';

/** Columns and indexes of a typed table beside those that every one has. */
export type TableShape = { readonly columns: readonly Column[]; readonly indexes: readonly TableIndex[] };

/** What a content type keeps in its table. */
export function useOf({ definition, retained }: Pick<StoredContentType, 'definition' | 'retained'>): TableUse {
  return { fields: definition.fields, retained, with_draft_publish: definition.with_draft_publish };
}

/**
 * The table that the content types on it need together (spec 5, rule 9): which table there is follows from the definitions alone, whatever
 * way led to them.
 * @returns undefined where no type uses it: then there is none
 */
export function tableShape(uses: readonly TableUse[]): TableShape | undefined {
  if (uses.length === 0) return undefined;
  const fields = uses.flatMap(({ fields: inForce, retained }) => [...inForce, ...retained]).filter(isStored);
  const columns = new Map<string, Column>();
  for (const column of fields.map(columnOf)) if (!columns.has(column.name)) columns.set(column.name, column);
  const indexed = new Set(fields.filter(isIndexed).map((field) => columnOf(field).name));
  const indexes: TableIndex[] = [...columns.values()].filter(({ name }) => indexed.has(name)).map((column) => ({ kind: 'column', column }));
  if (uses.some(({ with_draft_publish: on }) => on === true)) indexes.push({ kind: 'status' });
  return { columns: [...columns.values()], indexes };
}

/** Operations that turn one shape into the other; a column that goes must hold no value that anyone still means. */
export function reshape(before: TableShape | undefined, after: TableShape | undefined): readonly SchemaOperation[] {
  if (!after) return before ? [{ op: 'drop_empty_table', ...before }] : [];
  if (!before) return [{ op: 'create_table', columns: after.columns }, ...after.indexes.map((index) => ({ op: 'create_index', index }) as const)];
  const there = new Map(before.columns.map(({ name, type }) => [name, type]));
  const wanted = new Set(after.columns.map(({ name }) => name));
  const [had, has] = [new Set(before.indexes.map(keyOfIndex)), new Set(after.indexes.map(keyOfIndex))];
  return [
    // An index expression does not outlive its column's type.
    ...before.indexes.filter((index) => !has.has(keyOfIndex(index))).map((index) => ({ op: 'drop_index', index }) as const),
    ...before.columns.filter(({ name }) => !wanted.has(name)).map((column) => ({ op: 'drop_empty_column', column }) as const),
    ...after.columns.flatMap((column) => changeOf(column, there.get(column.name))),
    ...after.indexes.filter((index) => !had.has(keyOfIndex(index))).map((index) => ({ op: 'create_index', index }) as const),
  ];
}

function changeOf(column: Column, from: ColumnType | undefined): readonly SchemaOperation[] {
  if (from === undefined) return [{ op: 'add_column', column }];
  const { name, type: to } = column;
  if (from === to || from === 'uuid[]' || to === 'uuid[]') return [];
  return [{ op: 'convert_column', column: name, from, to }];
}

/** Indexes of one column before and after a change of its type are not the same. */
function keyOfIndex(index: TableIndex): string {
  return index.kind === 'status' ? '' : `${index.column.name} ${index.column.type}`;
}
