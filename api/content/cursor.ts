import type { CursorValue, PagePlace, SortKey } from '../../domain/content/entry-query.ts';
import { readValue } from '../../domain/content/entry-value.ts';
import { parsePosition } from '../../domain/event.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';

/** The list that a cursor belongs to: its sort order and its point in time (`as_of`). */
export type CursorList = { readonly sort: readonly SortKey[]; readonly asOf?: string | undefined };

/** A keyed digest of a text (HMAC-SHA256, base64url). */
export type CursorSigner = (text: string) => string;

/** The cursors of the lists of one content type. */
export type Cursors = {
  /** Encodes a place in a list as opaque text. The text also names the list, so that another list refuses it. */
  encode(list: CursorList, place: PagePlace): string;
  /** The place that a cursor names. @returns undefined for text that `encode` did not make for the same list */
  decode(list: CursorList, text: string): PagePlace | undefined;
};

/**
 * Creates the cursors of a content type. They are signed, because each position of a walk makes the service gather
 * entries as they were then: a client must not choose it.
 */
export function createCursors({ typeId, sign }: { readonly typeId: string; readonly sign: CursorSigner }): Cursors {
  const signatureOf = (place: string): string => sign(`${typeId} ${place}`);
  return {
    encode(list, place) {
      const text = encodePlace(list, place);
      return `${text}.${signatureOf(text)}`;
    },
    decode(list, text) {
      const match = text.length > 16_384 ? null : /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/.exec(text);
      const [, place = '', signature = ''] = match ?? [];
      return match && equalSecrets(signature, signatureOf(place)) ? decodePlace(list, place) : undefined;
    },
  };
}

function encodePlace(list: CursorList, { values, id, walk }: PagePlace): string {
  return Buffer.from(JSON.stringify([listOf(list), walk ?? null, ...values, id])).toString('base64url');
}

function decodePlace(list: CursorList, text: string): PagePlace | undefined {
  const { sort } = list;
  const parts = parse(Buffer.from(text, 'base64url').toString('utf8'));
  if (!isList(parts) || parts.length !== sort.length + 3) return undefined;
  const [of, walk, ...rest] = parts;
  const id = rest.at(-1);
  const values = rest.slice(0, -1);
  const position = typeof walk === 'string' ? parsePosition(walk) : undefined;
  if (
    of !== listOf(list) ||
    (walk !== null && position === undefined) ||
    typeof id !== 'string' ||
    !UUID_PATTERN.test(id)
  )
    return undefined;
  const areValid = values.every((value, index): value is CursorValue => isValueOf(sort[index], value));
  return areValid ? { values, id, walk: position } : undefined;
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

/** Whether PostgreSQL accepts the text as a value of the sort key's type, which may have changed since then. */
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
      return isFieldValue(key, value);
    default:
      return !value.includes('\0');
  }
}

function isFieldValue(key: SortKey, value: string): boolean {
  const field = { id: '', name: '', field_type: key.column.type };
  return readValue(field, value).ok;
}

/** Whether the text is a timestamp as PostgreSQL writes it, with an offset: `2026-01-31 12:00:00.123+00`. */
function isTimestamp(value: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)([+-]\d{2})(?::?(\d{2}))?$/.exec(value);
  if (!match || (match[1] ?? '').startsWith('0000')) return false;
  const [, day = '', time = '', hours = '', minutes = '00'] = match;
  return !Number.isNaN(Date.parse(`${day}T${time}${hours}:${minutes}`)) && Math.abs(Number(hours)) <= 15;
}
