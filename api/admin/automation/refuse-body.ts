import type { FieldError } from '../../../domain/errors.ts';
import { refusal } from '../../../domain/errors.ts';

type Problem = { readonly field: string; readonly message: string; readonly keyword: string };

/** An unknown field or a body that is no object answers `invalid JSON`, a bad value `invalid input` with `fields` (spec 3, webhook; spec 4 C). */
export function refuseBody(problems: readonly Problem[]): Error {
  if (problems.some(({ field, keyword }) => keyword === 'additionalProperties' || field === '')) return refusal('invalid_json');
  const fields = new Map<string, FieldError>();
  // A union names each of its branches; the first says what is wanted.
  for (const { field, message } of problems) if (!fields.has(field)) fields.set(field, { field, message });
  return refusal('invalid_input', { fields: [...fields.values()] });
}
