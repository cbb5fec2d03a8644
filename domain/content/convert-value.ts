import type { Json } from '../json.ts';
import type { FieldDefinition } from './definition.ts';
import { readValue } from './entry-value.ts';
import { emptyValue, FIELD_TYPE_SPECS, isManyToMany } from './field-types.ts';

/**
 * A stored value of another field type as today's type holds it, as the conversion of the column gave it (table-ddl-convert.ts); null for a
 * value that does not convert. For values in events of before a type change.
 */
export function convertValue(field: FieldDefinition, value: Json): Json {
  const { sqlType, textual } = FIELD_TYPE_SPECS[field.field_type];
  const read = readValue(field, value);
  if (read.ok && (typeof value !== 'string' || read.value !== null)) return read.value;
  if (value === null || isManyToMany(field)) return emptyValue(field);
  const text = textOf(value, sqlType);
  if (textual) return text;
  const trimmed = text.trim();
  switch (sqlType) {
    case 'int8':
      return /^[+-]?\d{1,19}(\.0+)?$/.test(trimmed) && Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : null;
    case 'float8':
      return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?$/.test(trimmed) && Number.isFinite(Number(trimmed)) ? Number(trimmed) : null;
    case 'boolean':
      return /^(true|1|1\.0+)$/i.test(trimmed) ? true : /^(false|0|0\.0+)$/i.test(trimmed) ? false : null;
    case 'date':
      return canonical(field, trimmed.slice(0, 10));
    case 'time(3)':
      return canonical(field, /[Tt]([\d:.]+)Z$/.exec(trimmed)?.[1] ?? trimmed);
    case 'timestamptz(3)':
      return canonical(field, asMoment(trimmed));
    default:
      return canonical(field, trimmed.replace(/^\+/, ''));
  }
}

function textOf(value: Json, sqlType: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' && (sqlType === 'int8' || sqlType === 'float8' || sqlType === 'numeric')) return value ? '1' : '0';
  return JSON.stringify(value);
}

function canonical(field: FieldDefinition, text: string): Json {
  const read = readValue(field, text);
  return read.ok ? read.value : null;
}

/** A date, or a moment without seconds or zone, as RFC 3339 in UTC. */
function asMoment(text: string): string {
  const [, day = text, time = '00:00', seconds = ':00', zone = 'Z'] = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/.exec(text) ?? [];
  return `${day}T${time}${seconds}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`;
}
