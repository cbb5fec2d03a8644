import { InvalidDefinition } from '../../domain/content/invalid-definition.ts';
import { refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';

/**
 * Reads the `new_name` of a rename.
 * @param input `parse` throws InvalidDefinition for a name that is not allowed.
 * @throws `new_name_required`, `new_name_same`, `invalid_schema` for a name that is not allowed
 */
export function readNewName(input: {
  readonly input: Json | undefined;
  readonly current: string;
  readonly parse: (name: Json) => string;
}): string {
  const { input: given, current, parse } = input;
  if (given === undefined || given === null || given === '') throw refusal('new_name_required');
  if (given === current) throw refusal('new_name_same');
  try {
    return parse(given);
  } catch (error) {
    if (error instanceof InvalidDefinition)
      throw refusal('invalid_schema', { message: `invalid schema: ${error.reason}` });
    throw error;
  }
}
