import type { CursorValue, PagePlace, SortKey } from '../../domain/content/entry-query.ts';
import { parsePosition } from '../../domain/event.ts';
import { readValue } from '../../domain/content/entry-value.ts';
import { uuidPattern } from '../../domain/content/patterns.ts';

/** The list that a cursor belongs to: its order, and the moment of the past that it shows. */
export type CursorList = { readonly sort: readonly SortKey[]; readonly asOf?: string | undefined };

/** Opaque text of a place in a list; it says which list it belongs to. */
export function encodeCursor(list: CursorList, { values, id, walk }: PagePlace): string {
  return Buffer.from(JSON.stringify([listOf(list), walk ?? null, ...values, id])).toString('base64url');
}

/** @returns undefined for text that is no cursor, or one of another list */
export function decodeCursor(list: CursorList, text: string): PagePlace | undefined {
  const { sort } = list;
  if (text.length > 16_384 || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const parts = parse(Buffer.from(text, 'base64url').toString('utf8'));
  if (!isList(parts) || parts.length !== sort.length + 3) return undefined;
  const [of, walk, ...rest] = parts;
  const id = rest.at(-1);
  const values = rest.slice(0, -1);
  const position = typeof walk === 'string' ? parsePosition(walk) : undefined;
  if (of !== listOf(list) || (walk !== null && position === undefined) || typeof id !== 'string' || !uuidPattern.test(id)) return undefined;
  const sound = values.every((value, index): value is CursorValue => isValueOf(sort[index], value));
  return sound ? { values, id, walk: position } : undefined;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function listOf({ sort, asOf }: CursorList): string {
  const order = sort.map(({ column, descending }) => `${descending ? '-' : ''}${column.column}`).join(',');
  return asOf === undefined ? order : `${order}@${asOf}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether PostgreSQL reads the text as the key's type: what it wrote into a cursor, or anything of that form. */
function isValueOf(key: SortKey | undefined, value: unknown): value is CursorValue {
  if (!key) return false;
  if (value === null) return key.column.nullable;
  if (typeof value !== 'string' || value.length > 2000) return false;
  switch (key.column.type) {
    case 'number':
      return /^-?\d{1,17}(?:\.\d{1,17})?(?:e[+-]\d{1,3})?$/.test(value) && Number.isFinite(Number(value));
    case 'integer':
      return /^-?\d{1,16}$/.test(value);
    case 'boolean':
      return value === 'true' || value === 'false';
    case 'datetime':
      return isTimestamp(value);
    case 'decimal':
    case 'date':
    case 'time':
    case 'uuid':
    case 'media':
    case 'relation':
      return read(key, value);
    default:
      return !value.includes('\0');
  }
}

function read(key: SortKey, value: string): boolean {
  const field = { id: '', name: '', field_type: key.column.type };
  return readValue(field, value).ok;
}

/** PostgreSQL's own text of a timestamp, with the session's offset. */
function isTimestamp(value: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)([+-]\d{2})(?::?(\d{2}))?$/.exec(value);
  if (!match || (match[1] ?? '').startsWith('0000')) return false;
  const [, day = '', time = '', hours = '', minutes = '00'] = match;
  return !Number.isNaN(Date.parse(`${day}T${time}${hours}:${minutes}`)) && Math.abs(Number(hours)) <= 15;
}
