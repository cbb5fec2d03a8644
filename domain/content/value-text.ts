import type { Json } from '../json.ts';
import type { ScalarColumnType } from './field-types.ts';
import { isRecord } from './parse-json.ts';

/** The text to which the database converts a stored value of a column of this type. */
export function databaseText(value: Json, type: ScalarColumnType): string {
  if (typeof value === 'string') return value;
  if (type === 'jsonb') return jsonbText(value);
  return typeof value === 'number' && type === 'float8' ? floatText(value) : JSON.stringify(value);
}

/** The shortest decimal digits of a number, without an exponent: 1e-7 as 0.0000001. */
export function plainDigits(value: number): string {
  const { sign, digits, exponent } = parts(value);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The text of a `float8`: with an exponent from 1e15 on and below 1e-4. */
function floatText(value: number): string {
  const { sign, digits, exponent } = parts(value);
  if (exponent >= -4 && exponent < 15) return plainDigits(value);
  const fraction = digits.slice(1);
  return `${sign}${digits.slice(0, 1)}${fraction === '' ? '' : `.${fraction}`}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** The text of a `jsonb`: shorter keys first, a space after each comma and colon, numbers without exponents. */
function jsonbText(value: Json): string {
  if (typeof value === 'number') return plainDigits(value);
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => ({ key, bytes: Buffer.from(key), member }));
  return `{${members
    .toSorted((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
    .map(({ key, member }) => `${JSON.stringify(key)}: ${jsonbText(member)}`)
    .join(', ')}}`;
}

function parts(value: number): { readonly sign: string; readonly digits: string; readonly exponent: number } {
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return { sign: value < 0 ? '-' : '', digits: mantissa.replace('.', ''), exponent: Number(exponent) };
}
