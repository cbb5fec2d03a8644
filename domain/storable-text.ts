const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether PostgreSQL can store the text unchanged: it contains neither a NUL character nor a lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}
