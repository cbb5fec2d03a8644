/**
 * A class name for each content type: `blog_post` becomes `BlogPost`. No name, alone or with one of the `suffixes`,
 * equals another one or a `taken` name; a number is added where it would. The result depends only on the set of names,
 * not on their order.
 */
export function typeIdentifiers(
  names: readonly string[],
  {
    usedIdentifiers = [],
    suffixes = [],
  }: { readonly usedIdentifiers?: readonly string[]; readonly suffixes?: readonly string[] } = {},
): ReadonlyMap<string, string> {
  const used = new Set(usedIdentifiers);
  const withSuffixes = (name: string): readonly string[] => ['', ...suffixes].map((suffix) => name + suffix);
  return new Map(
    names.toSorted().map((name) => {
      const plain = name
        .split('_')
        .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
        .join('');
      let free = plain;
      for (let number = 2; withSuffixes(free).some((one) => used.has(one)); number += 1) free = `${plain}_${number}`;
      for (const one of withSuffixes(free)) used.add(one);
      return [name, free];
    }),
  );
}
