import type { Json } from '../json.ts';
import { ownValue } from '../own-value.ts';
import { InvalidDefinition } from './invalid-definition.ts';

export type JsonRecord = { readonly [key: string]: Json | undefined };

/**
 * Reads an object with known keys.
 * @param what Name of the object for the error message.
 * @throws InvalidDefinition for other input, and for unknown keys
 */
export function parseObject(input: unknown, what: string, keys: readonly string[]): JsonRecord {
  if (!isRecord(input)) throw new InvalidDefinition(`${what} must be an object`);
  const unknown = Object.keys(input).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw new InvalidDefinition(`unknown field "${unknown.slice(0, 80)}"`);
  return input;
}

/** Whether a value is a JSON object. The input was parsed from JSON text. */
export function isRecord(input: unknown): input is JsonRecord {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/**
 * Reads a boolean; false when it is absent.
 * @param prefix Text before the key in the error message.
 * @throws InvalidDefinition for other values
 */
export function optionalBoolean(body: JsonRecord, key: string, prefix = ''): boolean {
  const value = ownValue(body, key) ?? false;
  if (typeof value !== 'boolean') throw new InvalidDefinition(`${prefix}${key} must be true or false`);
  return value;
}
