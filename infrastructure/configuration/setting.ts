/** What a parser answers: the value, or what a right value would look like (never the wrong one: it may be a secret). */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly remedy: string };

export type Parser<T> = {
  readonly parse: (text: string) => Parsed<T>;
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
  /** Version that brought it. */
  readonly since: string;
};

type Extra = { readonly secret?: boolean; readonly lenient?: boolean; readonly since?: string; readonly shownDefault?: string };

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
