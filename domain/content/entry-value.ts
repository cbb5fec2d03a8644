import { parseDate, parseDatetime } from '../datetime.ts';
import type { Json } from '../json.ts';
import { isStorableText } from '../storable-text.ts';
import { UUID_PATTERN } from '../uuid.ts';
import { parseDecimal } from './decimal.ts';
import type { FieldDefinition } from './definition.ts';
import { isManyToMany } from './field-types.ts';
import { SLUG_PATTERN } from './patterns.ts';

/** A value in stored form, or the reason for its refusal. */
export type ReadValue = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Maximum number of ids in a many_to_many relation. */
export const MAX_LINKS = 1000;

/** Maximum nesting depth of a `json` value. */
const MAX_DEPTH = 64;

/**
 * Validates a value and converts it to the stored form that events, responses and columns share: datetimes in UTC with
 * milliseconds, UUIDs in lower case, decimals as plain text, a many_to_many relation as a list of ids without
 * duplicates. Empty text becomes null where the type has no empty value. Idempotent.
 */
export function readValue(field: FieldDefinition, value: Json): ReadValue {
  if (isManyToMany(field)) return readLinks(value);
  if (value === null) return accept(null);
  if (value === '' && EMPTY_IS_NULL.has(field.field_type)) return accept(null);
  const read = readers[field.field_type](value);
  if (read.ok && typeof read.value === 'string' && !isStorableText(read.value))
    return refuse('must not contain NUL or broken surrogate characters');
  return read;
}

const EMPTY_IS_NULL: ReadonlySet<string> = new Set([
  'url',
  'email',
  'slug',
  'decimal',
  'date',
  'datetime',
  'time',
  'uuid',
  'media',
  'relation',
]);

const readers: Readonly<Record<FieldDefinition['field_type'], (value: Json) => ReadValue>> = {
  text: textOf,
  rich_text: textOf,
  url: (value) =>
    text(value, 'must be an http or https URL', (input) =>
      input.length <= 2048 && isWebUrl(input) ? input : undefined,
    ),
  email: (value) =>
    text(value, 'must be an e-mail address', (input) => (input.length <= 254 && EMAIL.test(input) ? input : undefined)),
  slug: (value) =>
    text(value, 'must be a slug: lower-case letters, digits, - and _', (input) =>
      SLUG_PATTERN.test(input) ? input : undefined,
    ),
  number: (value) => (typeof value === 'number' && Number.isFinite(value) ? accept(value) : refuse('must be a number')),
  integer: (value) =>
    Number.isSafeInteger(value) ? accept(value) : refuse('must be an integer between -2^53 and 2^53'),
  decimal: (value) =>
    text(typeof value === 'number' ? String(value) : value, 'must be a decimal number as text', parseDecimal),
  boolean: (value) => (typeof value === 'boolean' ? accept(value) : refuse('must be true or false')),
  date: (value) => text(value, 'must be a date: YYYY-MM-DD', parseDate),
  datetime: (value) => text(value, 'must be an RFC 3339 date and time', parseDatetime),
  time: (value) => text(value, 'must be a time: HH:MM or HH:MM:SS', parseTime),
  uuid: (value) => text(value, 'must be a UUID', parseUuid),
  media: (value) => text(value, 'must be the id of a media file', parseUuid),
  relation: (value) => text(value, 'must be the id of an entry', parseUuid),
  json: (value) =>
    isStorableJson(value, 0)
      ? accept(value)
      : refuse(`must be JSON without NUL characters, at most ${MAX_DEPTH} levels deep`),
};

/** Keeps the order of the ids; of duplicates the first one stays. */
function readLinks(value: Json): ReadValue {
  if (value === null) return accept([]);
  const ids = Array.isArray(value)
    ? value.map((id: Json) => (typeof id === 'string' ? parseUuid(id) : undefined))
    : [undefined];
  if (!ids.every((id) => id !== undefined)) return refuse('must be a list of ids of entries');
  return ids.length > MAX_LINKS ? refuse(`must contain at most ${MAX_LINKS} ids`) : accept([...new Set(ids)]);
}

function textOf(value: Json): ReadValue {
  return text(value, 'must be text', (input) => input);
}

function text(value: Json, message: string, parse: (input: string) => string | undefined): ReadValue {
  const parsed = typeof value === 'string' ? parse(value) : undefined;
  return parsed === undefined ? refuse(message) : accept(parsed);
}

const EMAIL =
  /^[^\s@"(),:;<>[\\\]]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/;

function isWebUrl(input: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(input) && !/[\s<>"]/.test(input) && URL.canParse(input);
}

const TIME = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?$/;

function parseTime(input: string): string | undefined {
  const match = TIME.exec(input);
  if (!match) return undefined;
  const [, hour = '', minute = '', second = '00', fraction = ''] = match;
  const rest = fraction.slice(0, 3).replace(/0+$/, '');
  return `${hour}:${minute}:${second}${rest === '' ? '' : `.${rest}`}`;
}

function parseUuid(input: string): string | undefined {
  return UUID_PATTERN.test(input) ? input.toLowerCase() : undefined;
}

function isStorableJson(value: Json, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item: Json) => isStorableJson(item, depth + 1));
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorableJson(item, depth + 1));
}

function accept(value: Json): ReadValue {
  return { ok: true, value };
}

function refuse(message: string): ReadValue {
  return { ok: false, message };
}
