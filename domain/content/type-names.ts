/**
 * A name for programs for each content type: `blog_post` becomes `BlogPost`. Names that would fall together, or are `taken`, get a number; the order
 * of the names decides, so that equal lists give equal names.
 */
export function typeNames(names: readonly string[], taken: readonly string[] = []): ReadonlyMap<string, string> {
  const used = new Set(taken);
  return new Map(
    names.toSorted().map((name) => {
      const plain = name.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
      let free = plain;
      for (let number = 2; used.has(free); number += 1) free = `${plain}_${number}`;
      used.add(free);
      return [name, free];
    }),
  );
}
