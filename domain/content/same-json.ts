import type { Json } from '../json.ts';

/** Whether two values are equal as JSON. The order of object members does not matter; the order of list items does. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  if (Array.isArray(a) !== Array.isArray(b) || left.length !== right.length) return false;
  const others = new Map<string, Json>(right);
  return left.every(([key, value]) => {
    const other = others.get(key);
    return other !== undefined && sameJson(value, other);
  });
}
