import { type ColumnType, INDEXED_CHARACTERS } from '../../../domain/content/field-types.ts';

/**
 * SQL of the value that an index holds, over a quoted column: the whole value, or the first 255 characters of a text. A
 * condition or order that should use the index must be written on exactly this expression. Equality also needs a
 * condition on the whole column.
 */
export function indexedExpression(columnType: ColumnType, column: string): string {
  return columnType === 'text' ? `left(${column}, ${INDEXED_CHARACTERS})` : column;
}

/** SQL of a column's value, over a quoted column, that `to_json` turns into the stored form of the value. */
export function jsonExpression(columnType: ColumnType, column: string): string {
  if (columnType === 'timestamptz(3)') return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  if (columnType === 'date') return `to_char(${column}, 'YYYY-MM-DD')`;
  if (columnType === 'numeric' || columnType === 'time(3)') return `${column}::text`;
  return column;
}
