import type { JsonObject } from '../../domain/json.ts';
import { durationText } from './duration-text.ts';

/** The parsed value, or a description of valid values. It never contains the invalid value, which may be a secret. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly remedy: string };

export type Parser<T> = {
  readonly parse: (text: string) => Parsed<T>;
  /** The value of an empty text: the setting is off. Default: there is none; the setting keeps its default. */
  readonly off?: T;
  /** JSON Schema of the value in `svc.yaml`; text with `${VAR}` is allowed besides. Default: text. */
  readonly schema?: JsonObject;
  /** Name of the type in the table of settings. */
  readonly kind: string;
  /** The unit of a parsed number. People see the number as a duration, such as `1m30s`. Default: no unit. */
  readonly unit?: 'ms';
};

/** Declaration of a setting. Its type, its default and its documentation come from here. */
export type Setting<T> = {
  /** Name of the environment variable. */
  readonly name: string;
  readonly parser: Parser<T>;
  readonly fallback: T;
  /** The default outside production, where it differs from `fallback`. */
  readonly fallbackOutsideProduction: T;
  /** The value of an empty text, which turns the setting off. Equals the default where the service needs a value. */
  readonly off: T;
  /** The default as the table shows it. */
  readonly shownDefault: string;
  readonly description: string;
  /** The value never appears in problems, in logs or in answers of the settings route. */
  readonly secret: boolean;
  /** A value that does not parse is ignored with a warning, instead of preventing the start. */
  readonly lenient: boolean;
  /**
   * The layers that may set it. `start`: environment and file, because the value is needed before the console's values
   * can be read. `environment`: only the environment.
   */
  readonly layers: 'all' | 'start' | 'environment';
};

type Extra<T> = {
  readonly fallbackOutsideProduction?: T;
  readonly secret?: boolean;
  readonly lenient?: boolean;
  readonly shownDefault?: string;
  readonly layers?: Setting<unknown>['layers'];
};

/** Declares a setting that always has a value. */
export function setting<T>(
  name: string,
  parser: Parser<T>,
  fallback: T,
  description: string,
  extra: Extra<T> = {},
): Setting<T> {
  return {
    name,
    parser,
    fallback,
    fallbackOutsideProduction: extra.fallbackOutsideProduction ?? fallback,
    off: parser.off ?? fallback,
    description,
    shownDefault: extra.shownDefault ?? shownText(fallback, parser),
    secret: extra.secret ?? false,
    lenient: extra.lenient ?? false,
    layers: extra.layers ?? 'all',
  };
}

/** Declares a setting that may be unset. An empty text unsets it. */
export function optional<T>(
  name: string,
  parser: Parser<T>,
  description: string,
  extra: Extra<T | undefined> = {},
): Setting<T | undefined> {
  return setting<T | undefined>(name, parser, undefined, description, { shownDefault: 'unset', ...extra });
}

function shownText(value: unknown, { unit }: Pick<Parser<unknown>, 'unit'>): string {
  if (unit === 'ms' && typeof value === 'number') return durationText(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
