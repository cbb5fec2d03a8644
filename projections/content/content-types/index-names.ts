import { createHash } from 'node:crypto';
import type { TableIndex } from '../../../domain/content/schema-operation.ts';

/**
 * Name of an index of a content type's table. The names start with `_`, so no content type can have them. They contain
 * a digest, so names that are equal after PostgreSQL truncates them to 63 bytes, or after joining their parts, still
 * differ.
 */
export function indexName(type: string, index: TableIndex): string {
  return index.kind === 'status' ? derivedName('ix', type, '_status') : derivedName('ix', type, index.column.name);
}

/** Name of the primary key of a content type's table. */
export function primaryKeyName(type: string): string {
  return derivedName('pk', type, 'id');
}

/** Name of the index for the default order of lists. */
export function createdIndexName(type: string): string {
  return derivedName('ix', type, '_created_at');
}

/** Name of the index for lookups by slug. */
export function slugIndexName(type: string): string {
  return derivedName('ix', type, '_slug');
}

/** Name of the index that finds the entries changed since a point in time. */
export function changedIndexName(type: string): string {
  return derivedName('ix', type, '_updated_at');
}

/** All names that change when a table is renamed: those of every table, then those of the given indexes. */
export function dependentNames(type: string, indexes: readonly TableIndex[]): readonly string[] {
  return [
    primaryKeyName(type),
    createdIndexName(type),
    slugIndexName(type),
    changedIndexName(type),
    ...indexes.map((index) => indexName(type, index)),
  ];
}

function derivedName(prefix: string, type: string, part: string): string {
  const digest = createHash('sha256').update(`${type}/${part}`).digest('hex').slice(0, 8);
  return `_${prefix}_${digest}_${type}_${part}`.slice(0, 63);
}
