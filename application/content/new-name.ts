import { refusal } from '../../domain/errors.ts';
import { InvalidDefinition } from '../../domain/content/invalid-definition.ts';
import type { Json } from '../../domain/json.ts';

/**
 * Reads the `new_name` of a rename (spec 2, errors of schema routes).
 * @throws `new_name_required`, `new_name_same`, `invalid_schema` for a name that `parse` refuses
 */
export function readNewName(given: Json | undefined, current: string, parse: (name: Json) => string): string {
  if (given === undefined || given === null || given === '') throw refusal('new_name_required');
  if (given === current) throw refusal('new_name_same');
  try {
    return parse(given);
  } catch (error) {
    if (error instanceof InvalidDefinition) throw refusal('invalid_schema', { message: `invalid schema: ${error.reason}` });
    throw error;
  }
}
