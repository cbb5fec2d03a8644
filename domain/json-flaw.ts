import { isStorableText } from './storable-text.ts';

/** Maximum nesting depth of a request body. Validators recurse, so deeper bodies could exhaust the stack. */
const MAX_DEPTH = 64;

/** A flaw of a parsed request body that no route accepts. */
export type JsonFlaw =
  /** Nested too deep, or a key `__proto__`. The caller treats the body as invalid JSON. */
  | { readonly kind: 'structure' }
  /**
   * Text that PostgreSQL cannot store; see `isStorableText`. `field` is its path, parts separated by dots.
   */
  | { readonly kind: 'text'; readonly field: string };

/** Finds the first flaw of a parsed JSON value. @returns undefined when it has none */
export function findJsonFlaw(value: unknown): JsonFlaw | undefined {
  return findFlaw(value, 0);
}

function findFlaw(value: unknown, depth: number): JsonFlaw | undefined {
  if (typeof value === 'string') return isStorableText(value) ? undefined : { kind: 'text', field: '' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return { kind: 'structure' };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const flaw = findFlaw(value[index], depth + 1);
      if (flaw) return prefixed(String(index), flaw);
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') return { kind: 'structure' };
    if (!isStorableText(key)) return { kind: 'text', field: '' };
    const flaw = findFlaw(member, depth + 1);
    if (flaw) return prefixed(key, flaw);
  }
  return undefined;
}

function prefixed(key: string, flaw: JsonFlaw): JsonFlaw {
  return flaw.kind === 'structure' ? flaw : { kind: 'text', field: flaw.field === '' ? key : `${key}.${flaw.field}` };
}
