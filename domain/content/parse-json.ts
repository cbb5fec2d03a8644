import type { Json } from '../json.ts';
import { InvalidDefinition } from './invalid-definition.ts';

export type JsonRecord = { readonly [key: string]: Json | undefined };

/** @throws InvalidDefinition unless the input is an object with known keys only */
export function parseObject(input: unknown, what: string, keys: readonly string[]): JsonRecord {
  if (!isRecord(input)) throw new InvalidDefinition(`${what} must be an object`);
  const unknown = Object.keys(input).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw new InvalidDefinition(`unknown field "${unknown.slice(0, 80)}"`);
  return input;
}

/** Whether a value is a plain JSON object. The input was read from JSON text. */
export function isRecord(input: unknown): input is JsonRecord {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/** A switch that is off where it is not there. @throws InvalidDefinition when it is no boolean */
export function optionalBoolean(body: JsonRecord, key: string, what = ''): boolean {
  const value = body[key] ?? false;
  if (typeof value !== 'boolean') throw new InvalidDefinition(`${what}${key} must be true or false`);
  return value;
}
