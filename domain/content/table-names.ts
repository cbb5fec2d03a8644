import { createHash } from 'node:crypto';
import type { TableIndex } from './schema-operation.ts';

/**
 * Name of an index of a type's table, in the table's schema. These names start with `_`, so no content type can take them, and carry a digest,
 * so neither a cut at PostgreSQL's 63 bytes nor another split of the words makes two alike.
 */
export function indexName(type: string, index: TableIndex): string {
  return index.kind === 'status' ? derivedName('ix', type, '_status') : derivedName('ix', type, index.column.name);
}

/** Name of the primary key of a type's table. */
export function primaryKeyName(type: string): string {
  return derivedName('pk', type, 'id');
}

/** Name of the index behind the default order of lists. */
export function createdIndexName(type: string): string {
  return derivedName('ix', type, '_created_at');
}

/** Name of the index behind look-ups by slug. */
export function slugIndexName(type: string): string {
  return derivedName('ix', type, '_slug');
}

/** Name of the index that finds what has changed since a moment. */
export function changedIndexName(type: string): string {
  return derivedName('ix', type, '_updated_at');
}

/** Every name that goes with a type's table when it is renamed: those of all tables, then those of the given indexes. */
export function namesBeside(type: string, indexes: readonly TableIndex[]): readonly string[] {
  return [primaryKeyName(type), createdIndexName(type), slugIndexName(type), changedIndexName(type), ...indexes.map((index) => indexName(type, index))];
}

/** Table of a content type that was deleted with its entries kept: out of reach of every type of that name. */
export function keptTableName(typeId: string): string {
  return `_kept_${typeId.replaceAll('-', '')}`;
}

/** Table that holds the entries of a content type. */
export function tableNameOf({ id, name, deleted }: { readonly id: string; readonly name: string; readonly deleted?: boolean }): string {
  return deleted === true ? keptTableName(id) : name;
}

function derivedName(prefix: string, type: string, part: string): string {
  const digest = createHash('sha256').update(`${type}/${part}`).digest('hex').slice(0, 8);
  return `_${prefix}_${digest}_${type}_${part}`.slice(0, 63);
}
