import { LineCounter, type Node, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { ownValue } from '../../domain/own-value.ts';

/** A value of a settings file. */
export type FileValue = {
  readonly text: string;
  /** Tagged `!overridable`: the console may override it. */
  readonly overridable: boolean;
  readonly file: string;
  readonly line: number;
};

/** The content of one settings file. Problems name the file and the line, never a value. */
export type FlatFile = {
  /** Each with its path of keys, such as `['database', 'url']`. */
  readonly values: readonly (FileValue & { readonly path: readonly string[] })[];
  /** The entries of `$include`, as written. */
  readonly includes: readonly string[];
  /** The entries of `schemas`: definitions of content types. */
  readonly schemas: readonly unknown[];
  readonly problems: readonly string[];
};

const OVERRIDABLE = '!overridable';
const MAX_DEPTH = 20;
const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Reads the YAML of a settings file. Nested keys become paths, a list of scalars comma-separated text, any other list
 * JSON. `${VAR}` and `${VAR:-fallback}` read the environment.
 */
export function flattenYaml(
  text: string,
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): FlatFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    customTags: [{ tag: OVERRIDABLE, resolve: (value: string) => value }],
  });
  const values: (FileValue & { path: readonly string[] })[] = [];
  const includes: string[] = [];
  const schemas: unknown[] = [];
  const problems: string[] = document.errors.map(
    ({ linePos, code }) => `${file}, line ${String(linePos?.[0].line ?? 1)}: not valid YAML (${code})`,
  );
  if (problems.length > 0) return { values, includes, schemas, problems };
  const { contents } = document;
  if (contents === null) return { values, includes, schemas, problems };
  if (!isMap(contents))
    return { values, includes, schemas, problems: [`${file}: the top level must be a mapping of settings`] };
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (name === '$include') includes.push(...textsOf(value, '$include'));
    else if (name === 'schemas') schemas.push(...schemasOf(value));
    else walk(value, [name], false);
  }
  return { values, includes, schemas, problems };

  function walk(node: Node | null, path: readonly string[], inherited: boolean): void {
    const overridable = inherited || node?.tag === OVERRIDABLE;
    if (path.length > MAX_DEPTH) {
      problems.push(`${at(node)}: nested too deeply`);
    } else if (isMap(node)) {
      for (const { key, value } of node.items)
        walk(value as Node | null, [...path, isScalar(key) ? String(key.value) : ''], overridable);
    } else {
      const value = textOf(node);
      if (value !== undefined) values.push({ path, text: value, overridable, file, line: lineOf(node) });
    }
  }

  function textOf(node: Node | null): string | undefined {
    if (node === null) return '';
    if (isScalar(node)) return scalarText(node.value, node);
    if (isSeq(node)) {
      const items = node.items as readonly (Node | null)[];
      if (items.every((item) => isScalar(item))) return items.map((item) => textOf(item) ?? '').join(',');
      return interpolate(JSON.stringify(node.toJS(document)), node);
    }
    if (isAlias(node)) problems.push(`${at(node)}: YAML aliases are not supported`);
    return undefined;
  }

  function scalarText(value: unknown, node: Node): string | undefined {
    if (value === null) return '';
    // Keeps numbers as they are written, such as 0123 and 1e3.
    return interpolate(
      typeof value === 'string'
        ? value
        : isScalar(node)
          ? (node.source ?? JSON.stringify(value))
          : JSON.stringify(value),
      node,
    );
  }

  function interpolate(raw: string, node: Node): string | undefined {
    let missing: string | undefined;
    const filled = raw.replace(PLACEHOLDER, (_all, name: string, fallback: string | undefined) => {
      const setting = ownValue(environment, name);
      if (setting !== undefined && setting !== '') return setting;
      if (fallback === undefined) missing ??= name;
      return fallback ?? '';
    });
    if (missing === undefined) return filled;
    problems.push(
      `${at(node)}: it names \${${missing}}, which is not set; set it or write a fallback: \${${missing}:-…}`,
    );
    return undefined;
  }

  function textsOf(node: Node | null, name: string): readonly string[] {
    const items = isSeq(node) ? (node.items as readonly (Node | null)[]) : [node];
    return items.flatMap((item) => {
      const value = isScalar(item) ? scalarText(item.value, item) : undefined;
      if (value !== undefined && value !== '') return [value];
      problems.push(`${at(node)}: ${name} must list files`);
      return [];
    });
  }

  function schemasOf(node: Node | null): readonly unknown[] {
    if (isSeq(node)) return node.toJS(document) as unknown[];
    problems.push(`${at(node)}: schemas must be a list of content type definitions`);
    return [];
  }

  function lineOf(node: Node | null): number {
    return node?.range ? lines.linePos(node.range[0]).line : 1;
  }

  function at(node: Node | null): string {
    return `${file}, line ${String(lineOf(node))}`;
  }
}
