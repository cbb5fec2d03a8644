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

/** Texts that the console sets, by variable name. Undefined: the console no longer sets the variable. */
export type ConsoleChanges = ReadonlyMap<string, string | undefined>;

/** The settings of this process, with their declarations and sources. */
export type Configuration = {
  list(saved: ConsoleTexts): readonly SettingView[];
  isSecret(key: string): boolean;
  /**
   * Judges changes of the console together with the saved texts.
   * @returns the refused keys, each with its reason; a reason never contains a value
   */
  refusalsOf(changes: ConsoleChanges, saved: ConsoleTexts): ReadonlyMap<string, string>;
};
