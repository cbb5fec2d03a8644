import type { Json } from '../json.ts';
import type { FieldDefinition, FieldType } from './definition.ts';
import { parseDatetime, readValue } from './entry-value.ts';
import { FIELD_TYPE_SPECS, isManyToMany } from './field-types.ts';
import type { SqlType } from './field-types.ts';
import { databaseText, plainDigits } from './value-text.ts';

/**
 * A stored value of one field type as another one holds it, exactly as the conversion of the column gave it (table-ddl-convert.ts); null for a
 * value that does not convert. For values in events of before a type change.
 */
export function convertValue(field: FieldDefinition, value: Json, from: FieldType): Json {
  const [before, after] = [FIELD_TYPE_SPECS[from].sqlType, FIELD_TYPE_SPECS[field.field_type].sqlType];
  if (value === null || before === after || isManyToMany(field)) return value;
  if (after === 'jsonb') return value;
  const text = textForm(value, before, after);
  if (after === 'text') return text;
  return parse(text.replaceAll(/^ +| +$/g, ''), after, field);
}

/** A value through every type that its field has had since: `types` begins with the value's own and ends with today's. What is no value of today's type is null. */
export function convertThrough(field: FieldDefinition, value: Json, types: readonly FieldType[]): Json {
  const converted = types.reduce<Json>((before, to, index) => convertValue({ ...field, field_type: to }, before, types[index - 1] ?? to), value);
  return FIELD_TYPE_SPECS[field.field_type].textual ? converted : canonical(field, converted);
}

/** Text of a value as the database reads it when it converts the column. */
function textForm(value: Json, from: SqlType, to: SqlType): string {
  if (from === 'boolean' && (to === 'int8' || to === 'float8' || to === 'numeric')) return value === true ? '1' : '0';
  if (from === 'numeric' && typeof value === 'string' && (to === 'int8' || to === 'boolean')) return withoutScale(value);
  if (from === 'float8' && typeof value === 'number' && (to === 'int8' || to === 'numeric')) return plainDigits(value);
  if (from === 'timestamptz(3)' && typeof value === 'string' && to === 'date') return value.slice(0, 10);
  if (from === 'timestamptz(3)' && typeof value === 'string' && to === 'time(3)') return value.slice(11, -1);
  return databaseText(value, from);
}

function parse(text: string, to: Exclude<SqlType, 'text' | 'jsonb'>, field: FieldDefinition): Json {
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

/** The database refuses what is too large or too small for a double. */
function finite(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) && (value !== 0 || !/^[^eE]*[1-9]/.test(text)) ? value + 0 : null;
}

function withoutScale(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function canonical(field: FieldDefinition, value: Json): Json {
  const read = readValue(field, value);
  return read.ok ? read.value : null;
}

/** A date, or a moment without seconds or zone, as RFC 3339 in UTC; to the nearest millisecond. */
function asMoment(text: string): string | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (!match) return null;
  const [, day = '', time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const whole = parseDatetime(`${day}T${time}:${seconds}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  if (whole === undefined || fraction === '') return whole ?? null;
  const milliseconds = Math.round(Math.round(Number(`0.${fraction}`) * 1e6) / 1e3);
  return parseDatetime(new Date(Date.parse(whole) + milliseconds).toISOString()) ?? null;
}
