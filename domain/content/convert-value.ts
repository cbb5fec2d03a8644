import { parseDatetime } from '../datetime.ts';
import type { Json } from '../json.ts';
import { canonicalDecimal } from './decimal.ts';
import type { FieldDefinition, FieldType } from './definition.ts';
import { readValue } from './entry-value.ts';
import { FIELD_TYPE_SPECS, type ScalarColumnType, isManyToMany } from './field-types.ts';
import { databaseText, plainDigits } from './value-text.ts';

/**
 * Converts a stored value to another field type, exactly as the database converts the column. Values in events that are
 * older than a type change need it.
 * @returns null for a value that does not convert
 */
export function convertValue(field: FieldDefinition, value: Json, from: FieldType): Json {
  const [before, after] = [FIELD_TYPE_SPECS[from].columnType, FIELD_TYPE_SPECS[field.field_type].columnType];
  if (value === null || before === after || isManyToMany(field)) return value;
  if (after === 'jsonb') return value;
  const text = textForm(value, before, after);
  if (after === 'text') return text;
  return parse(text.replaceAll(/^ +| +$/g, ''), after, field);
}

/**
 * Converts a value through every type that its field has had since. `types` begins with the value's own type and ends
 * with the current one.
 * @returns null for a value that is not valid for the current type
 */
export function convertThrough(field: FieldDefinition, value: Json, types: readonly FieldType[]): Json {
  const converted = types.reduce<Json>(
    (before, to, index) => convertValue({ ...field, field_type: to }, before, types[index - 1] ?? to),
    value,
  );
  return FIELD_TYPE_SPECS[field.field_type].textual ? converted : canonical(field, converted);
}

/** The text that the database converts. */
function textForm(value: Json, from: ScalarColumnType, to: ScalarColumnType): string {
  if (from === 'boolean' && (to === 'int8' || to === 'float8' || to === 'numeric')) return value === true ? '1' : '0';
  if (from === 'numeric' && typeof value === 'string' && (to === 'int8' || to === 'boolean'))
    return canonicalDecimal(value);
  if (from === 'float8' && typeof value === 'number' && (to === 'int8' || to === 'numeric')) return plainDigits(value);
  if (from === 'timestamptz(3)' && typeof value === 'string' && to === 'date') return value.slice(0, 10);
  if (from === 'timestamptz(3)' && typeof value === 'string' && to === 'time(3)') return value.slice(11, -1);
  return databaseText(value, from);
}

function parse(text: string, to: Exclude<ScalarColumnType, 'text' | 'jsonb'>, field: FieldDefinition): Json {
  switch (to) {
    case 'int8':
      return /^[+-]?\d{1,19}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) + 0 : null;
    case 'float8':
      return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?$/.test(text) ? finite(text) : null;
    case 'numeric':
      return /^[+-]?\d+(\.\d+)?$/.test(text) && text.length <= 2000 ? canonical(field, text.replace(/^\+/, '')) : null;
    case 'boolean':
      return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : null;
    case 'time(3)':
      return /^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) ? canonical(field, text) : null;
    case 'timestamptz(3)':
      return asMoment(text);
    case 'date':
    case 'uuid':
      return canonical(field, text);
  }
}

/** The database refuses numbers that overflow or underflow a double. */
function finite(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) && (value !== 0 || !/^[^eE]*[1-9]/.test(text)) ? value + 0 : null;
}

function canonical(field: FieldDefinition, value: Json): Json {
  const read = readValue(field, value);
  return read.ok ? read.value : null;
}

/**
 * Reads a date, or a date and time that may lack seconds and time zone.
 * @returns RFC 3339 in UTC, rounded to milliseconds; null for other text
 */
function asMoment(text: string): string | null {
  const match =
    /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (!match) return null;
  const [, day = '', time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const whole = parseDatetime(`${day}T${time}:${seconds}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  if (whole === undefined || fraction === '') return whole ?? null;
  const milliseconds = Math.round(Math.round(Number(`0.${fraction}`) * 1e6) / 1e3);
  return parseDatetime(new Date(Date.parse(whole) + milliseconds).toISOString()) ?? null;
}
