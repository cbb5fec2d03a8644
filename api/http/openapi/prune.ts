import type { Json, JsonObject } from '../../../domain/json.ts';
import { ownValue } from '../../../domain/own-value.ts';
import { isList, isObject } from './json-schema.ts';

/** Removes the components that no path references, directly or through other components. */
export function prune<
  T extends JsonObject & { readonly components: { readonly [kind: string]: JsonObject }; readonly paths: JsonObject },
>(document: T): T {
  const used = new Set<string>();
  const open: Json[] = [document.paths];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const reference of referencesIn(next)) {
      if (used.has(reference)) continue;
      used.add(reference);
      const [, , kind = '', name = ''] = reference.split('/');
      const found = ownValue(ownValue(document.components, kind) ?? {}, name);
      if (found !== undefined) open.push(found);
    }
  }
  const usedComponents = Object.entries(document.components).map(([kind, componentsByName]): [string, JsonObject] => [
    kind,
    Object.fromEntries(Object.entries(componentsByName).filter(([name]) => used.has(`#/components/${kind}/${name}`))),
  ]);
  return { ...document, components: Object.fromEntries(usedComponents) };
}

/** The references in a value, as `#/components/<kind>/<name>`. Security requirements count as references. */
function referencesIn(value: Json): readonly string[] {
  if (isList(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (name === '$ref' && typeof item === 'string') return [item];
    if (name === 'security' && isList(item))
      return item.flatMap((needed) =>
        isObject(needed) ? Object.keys(needed).map((scheme) => `#/components/securitySchemes/${scheme}`) : [],
      );
    return referencesIn(item);
  });
}
