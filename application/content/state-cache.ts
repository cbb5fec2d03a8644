import type { Json } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { EntryAt } from './fold-entry.ts';

/** An entry before and after an event, so that reading the same event again costs nothing. */
export type LastStep = { readonly before: EntryAt; readonly after: EntryAt };

export type StateCache = { get(key: string): LastStep | undefined; set(key: string, step: LastStep): void };

/**
 * A cache of steps that removes the least recently used ones. It is limited by size, not number, because an entry may
 * hold a megabyte.
 */
export function createStateCache({ maxCharacters }: { readonly maxCharacters: number }): StateCache {
  const entries = new Map<string, { readonly step: LastStep; readonly size: number }>();
  let total = 0;
  function remove(key: string): void {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }
  return {
    get(key) {
      const found = entries.get(key);
      if (!found) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.step;
    },
    set(key, step) {
      remove(key);
      const size = sizeOf(step);
      entries.set(key, { step, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= maxCharacters) break;
        remove(oldest);
      }
    },
  };
}

const STATE_CHARACTERS = 500;

/**
 * The approximate size in characters: texts by their length, objects by their JSON, other values as a constant. A value
 * that the event left as it was is counted once, because both states refer to it.
 */
function sizeOf({ before, after }: LastStep): number {
  const earlier = before.state?.fields ?? {};
  const later = after.state?.fields ?? {};
  let size = 2 * STATE_CHARACTERS;
  for (const value of Object.values(later)) size += sizeOfValue(value);
  for (const [field, value] of Object.entries(earlier))
    if (ownValue(later, field) !== value) size += sizeOfValue(value);
  return size;
}

function sizeOfValue(value: Json): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 16;
}
