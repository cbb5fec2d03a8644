import { RE2JS } from 're2js';
import type { ContentTypeDefinition } from './definition.ts';

/** Maximum number of instructions of one pattern, with its repetitions written out. */
export const MAX_PATTERN_SIZE = 1_000;

/** Maximum number of instructions of all patterns of a content type. */
export const MAX_PATTERN_SIZES = 5_000;

/**
 * Maximum number of steps, instructions times characters, of all patterns for one write of an entry. The slowest
 * patterns took 60 nanoseconds a step when this was measured, so matching ends within about 0.1 seconds.
 */
export const MAX_PATTERN_STEPS = 2_000_000;

/** A compiled pattern. `size` is the number of its instructions. */
export type FieldPattern = { readonly size: number; readonly matches: (text: string) => boolean };

/** Whether a field of the content type has a pattern. */
export function hasPatterns({ fields }: ContentTypeDefinition): boolean {
  return fields.some(({ validation = [] }) => validation.some(({ rule }) => rule === 'pattern'));
}

/**
 * Compiles a pattern. Patterns are RE2: matching takes at most `size` steps for each character.
 * @throws Error unless RE2 accepts the pattern
 */
export function compilePattern(pattern: string): FieldPattern {
  const compiled = RE2JS.compile(pattern);
  // `test` finds no groups, which makes it many times faster than a matcher.
  return { size: compiled.programSize(), matches: (text) => compiled.test(text) };
}

/**
 * Estimates the number of instructions of a pattern without compiling it, because compiling takes time and memory in
 * proportion to it. A text that RE2 refuses gives a number too.
 */
export function estimatedSize(pattern: string): number {
  let at = 0;

  /** Estimates up to the end of the group, which it leaves at `at`. */
  function group(): number {
    let total = 0;
    let last = 0;
    while (at < pattern.length && pattern[at] !== ')') {
      const repetition = take(/\{(\d{1,4})(,?)(\d{0,4})\}/y);
      if (repetition) {
        const [, least = '', comma = '', most = ''] = repetition;
        const required = Number(least);
        const times = most === '' ? required + (comma === '' ? 0 : 1) : Number(most);
        // Each optional repetition has an instruction of its own.
        const size = last * Math.max(1, times) + Math.max(0, times - required);
        total += size - last;
        last = size;
      } else if (take(/[*+?]/y)) {
        total += 1;
        last += 1;
      } else {
        last = atom();
        total += last;
      }
    }
    return total;
  }

  function atom(): number {
    const opening = take(/\((\?(?:P?<\w+>|[a-zA-Z-]*:)?)?/y);
    if (opening) {
      const size = group() + (opening[1] === undefined ? 2 : 0);
      at += 1;
      return size;
    }
    if (!take(/\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]?/y) && !take(/\\[pPx]\{[^}]*\}|\\[\s\S]/y)) at += 1;
    return 1;
  }

  function take(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = at;
    const match = syntax.exec(pattern);
    if (match) at += match[0].length;
    return match;
  }

  let size = 0;
  while (at < pattern.length) {
    size += group();
    // A closing parenthesis without its opening one.
    at += 1;
  }
  return size;
}
