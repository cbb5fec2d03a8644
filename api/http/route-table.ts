/** A tree of path segments. Finding a route takes one map look-up a segment, independent of the number of routes. */
export type RouteTable<T> = {
  /** The routes of a path, by method; undefined when no route serves the path. */
  readonly find: (path: string) => Match<T> | undefined;
};

export type Match<T> = {
  readonly methods: ReadonlyMap<string, T>;
  /** The `Allow` header of the path: its methods, `HEAD` where there is `GET`, and `OPTIONS`. */
  readonly allow: string;
  /** Raw (still percent-encoded) values of the path's parameters, in order. */
  readonly values: readonly string[];
};

type Node<T> = {
  readonly children: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  readonly methods: Map<string, T>;
  allow: string;
};

const NO_VALUES: readonly string[] = [];

/**
 * Builds the table. A literal segment takes precedence over a parameter in the same place.
 * @throws Error when two routes have the same method and path
 */
export function buildRouteTable<T>(
  routes: readonly { readonly method: string; readonly path: string; readonly target: T }[],
): RouteTable<T> {
  const root = node<T>();
  const literal = new Map<string, Match<T>>();
  for (const { method, path, target } of routes) {
    let at = root;
    for (const segment of path.split('/').slice(1)) {
      if (segment.startsWith('{')) at = at.parameter ??= node();
      else {
        let child = at.children.get(segment);
        if (!child) at.children.set(segment, (child = node()));
        at = child;
      }
    }
    if (at.methods.has(method)) throw new Error(`two routes are declared for ${method} ${path}`);
    at.methods.set(method, target);
    at.allow = allowOf(at.methods);
    if (!path.includes('{')) literal.set(path, { methods: at.methods, allow: at.allow, values: NO_VALUES });
  }
  return {
    find: (path) => {
      const direct = literal.get(path);
      if (direct) return direct;
      const segments = path.split('/');
      if (segments.length < 2 || segments.length > 64 || segments[0] !== '') return undefined;
      const values: string[] = [];
      const found = walk(root, segments, 1, values);
      return found && { methods: found.methods, allow: found.allow, values };
    },
  };
}

/** The parameter names of a declared path, in order: `x` and `y` for `/a/{x}/b/{y}`. */
export function parameterNames(path: string): readonly string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
}

function walk<T>(at: Node<T>, segments: readonly string[], index: number, values: string[]): Node<T> | undefined {
  const segment = segments[index];
  if (segment === undefined) return at.methods.size > 0 ? at : undefined;
  const child = at.children.get(segment);
  const found = child && walk(child, segments, index + 1, values);
  if (found) return found;
  if (!at.parameter || segment === '') return undefined;
  values.push(segment);
  const below = walk(at.parameter, segments, index + 1, values);
  if (!below) values.pop();
  return below;
}

function node<T>(): Node<T> {
  return { children: new Map(), parameter: undefined, methods: new Map(), allow: '' };
}

function allowOf(methods: ReadonlyMap<string, unknown>): string {
  return [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
