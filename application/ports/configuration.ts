import type { Json } from '../../domain/json.ts';

/** One setting as `GET /api/admin/config` returns it. Values of secrets are masked. */
export type SettingView = {
  /** Name of the variable. */
  readonly key: string;
  /** The value in force after the next start with the saved texts; null when unset. */
  readonly value: Json;
  readonly source: 'environment' | 'file' | 'console' | 'default';
  /** Whether the console may set it. */
  readonly overridable: boolean;
  readonly secret: boolean;
  readonly default: string;
  readonly description: string;
};

/** The texts saved by the console, in plain text, by variable name. */
export type ConsoleTexts = ReadonlyMap<string, string>;

/** The settings of this process, with their declarations and sources. */
export type Configuration = {
  list(saved: ConsoleTexts): readonly SettingView[];
  isSecret(key: string): boolean;
  /** @returns the reason why the console may not set this text, without the text itself; undefined when it may */
  refusalOf(key: string, text: string, saved: ConsoleTexts): string | undefined;
};
