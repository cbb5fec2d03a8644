import type { JsonObject } from '../../domain/json.ts';

/** What a parser answers: the value, or what a right value would look like (never the wrong one: it may be a secret). */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly remedy: string };

export type Parser<T> = {
  readonly parse: (text: string) => Parsed<T>;
  /** JSON Schema of the value in a file, beside text with `${VAR}` in it. Default: text. */
  readonly schema?: JsonObject;
  /** For the table of settings. */
  readonly kind: string;
};

/** The one declaration of a setting: its type, default and description all come from here. */
export type Setting<T> = {
  /** Variable name. */
  readonly name: string;
  readonly parser: Parser<T>;
  readonly fallback: T;
  /** The default as the table shows it. */
  readonly shownDefault: string;
  readonly description: string;
  /** Never shown in problems, logs or the settings route. */
  readonly secret: boolean;
  /** A value that does not parse falls back to the default instead of refusing the start (pool and health values, spec 1). */
  readonly lenient: boolean;
  /** Which layers may set it: `all`; `start` is needed before the console's values can be read, so not the console; `environment` alone. */
  readonly layers: 'all' | 'start' | 'environment';
  /** Version that brought it. */
  readonly since: string;
};

type Extra = { readonly secret?: boolean; readonly lenient?: boolean; readonly since?: string; readonly shownDefault?: string; readonly layers?: Setting<unknown>['layers'] };

/** A setting that has a value always. */
export function setting<T>(name: string, parser: Parser<T>, fallback: T, description: string, extra: Extra = {}): Setting<T> {
  return {
    name,
    parser,
    fallback,
    description,
    shownDefault: extra.shownDefault ?? show(fallback),
    secret: extra.secret ?? false,
    lenient: extra.lenient ?? false,
    layers: extra.layers ?? 'all',
    since: extra.since ?? '0.1.0',
  };
}

/** A setting that may be unset. */
export function optional<T>(name: string, parser: Parser<T>, description: string, extra: Extra = {}): Setting<T | undefined> {
  return setting<T | undefined>(name, parser, undefined, description, { shownDefault: 'unset', ...extra });
}

function show(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
