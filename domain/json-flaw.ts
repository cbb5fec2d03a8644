/** Deepest nesting a body may have: validators and serialisers recurse. */
const MAX_DEPTH = 64;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** What is wrong with a parsed body, whatever its schema says. */
export type JsonFlaw =
  /** Nested too deep, or a key `__proto__`: treated as text that is not JSON. */
  | { readonly kind: 'structure' }
  /** Text that Postgres can't hold: a NUL or half of a surrogate pair. */
  | { readonly kind: 'text'; readonly field: string };

/** Looks through a parsed JSON value for what no route can take. */
export function findJsonFlaw(value: unknown): JsonFlaw | undefined {
  return look(value, 0);
}

function look(value: unknown, depth: number): JsonFlaw | undefined {
  if (typeof value === 'string') return sound(value) ? undefined : { kind: 'text', field: '' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return { kind: 'structure' };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const flaw = look(value[index], depth + 1);
      if (flaw) return under(String(index), flaw);
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') return { kind: 'structure' };
    if (!sound(key)) return { kind: 'text', field: '' };
    const flaw = look(member, depth + 1);
    if (flaw) return under(key, flaw);
  }
  return undefined;
}

function sound(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}

function under(key: string, flaw: JsonFlaw): JsonFlaw {
  return flaw.kind === 'structure' ? flaw : { kind: 'text', field: flaw.field === '' ? key : `${key}.${flaw.field}` };
}
