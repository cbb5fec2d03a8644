import type { FieldError } from '../errors.ts';
import type { Json } from '../json.ts';
import type { FieldValues } from './entry-events.ts';

/**
 * Maximum number of characters of all values of an entry. A body has a limit of its own, but updates of one field after
 * another would make an entry too large to read.
 */
export const MAX_ENTRY_CHARACTERS = 8_388_608;

/** The error of a write that makes an entry too large; it names the largest field of the write. */
export function entrySizeProblems(stored: FieldValues, changed: FieldValues): readonly FieldError[] {
  const size = charactersOf({ ...stored, ...changed });
  if (size <= MAX_ENTRY_CHARACTERS || size <= charactersOf(stored)) return [];
  const [largest] = Object.entries(changed).toSorted(([, a], [, b]) => charactersOf(b) - charactersOf(a));
  const message = `the values of an entry must have at most ${MAX_ENTRY_CHARACTERS} characters together`;
  return [{ field: largest?.[0] ?? '', message }];
}

/** The characters of a value: those of its texts, and one for each other value. */
function charactersOf(value: Json | FieldValues): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items.reduce<number>((sum, item) => sum + 1 + charactersOf(item), 0);
  }
  return Object.entries(value).reduce((sum, [key, item]) => sum + key.length + charactersOf(item), 0);
}
