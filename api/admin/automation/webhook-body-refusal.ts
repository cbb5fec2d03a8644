import { type FieldError, refusal } from '../../../domain/errors.ts';

type Problem = { readonly field: string; readonly message: string; readonly keyword: string };

/**
 * The refusal of an invalid body: `invalid_json` for an unknown field or a body that is not an object, else
 * `invalid_input` with `fields`.
 */
export function webhookBodyRefusal(problems: readonly Problem[]): Error {
  if (problems.some(({ field, keyword }) => keyword === 'additionalProperties' || field === ''))
    return refusal('invalid_json');
  const fields = new Map<string, FieldError>();
  // A union reports one problem for each branch; keep the first problem of a field.
  for (const { field, message } of problems) if (!fields.has(field)) fields.set(field, { field, message });
  return refusal('invalid_input', { fields: [...fields.values()] });
}
