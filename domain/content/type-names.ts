/**
 * A name for programs for each content type: `blog_post` becomes `BlogPost`. Neither it nor what it becomes with one of the `suffixes` is the name of another,
 * or `taken`: a number sets it apart. The order of the names decides, so that equal lists give equal names.
 */
export function typeNames(names: readonly string[], { taken = [], suffixes = [] }: { readonly taken?: readonly string[]; readonly suffixes?: readonly string[] } = {}): ReadonlyMap<string, string> {
  const used = new Set(taken);
  const withSuffixes = (name: string): readonly string[] => ['', ...suffixes].map((suffix) => name + suffix);
  return new Map(
    names.toSorted().map((name) => {
      const plain = name.split('_').map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
      let free = plain;
      for (let number = 2; withSuffixes(free).some((one) => used.has(one)); number += 1) free = `${plain}_${number}`;
      for (const one of withSuffixes(free)) used.add(one);
      return [name, free];
    }),
  );
}
