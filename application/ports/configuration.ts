import type { Json } from '../../domain/json.ts';

/** One setting as `GET /api/admin/config` shows it (spec 4 A, settings). Values of secrets are masked. */
export type SettingView = {
  /** Name of the variable. */
  readonly key: string;
  /** In force once the process has started with what is saved now; null: unset. */
  readonly value: Json;
  readonly source: 'environment' | 'file' | 'console' | 'default';
  /** Whether the console may set it. */
  readonly overridable: boolean;
  readonly secret: boolean;
  readonly default: string;
  readonly description: string;
};

/** What the console says, in clear, by variable. */
export type ConsoleTexts = ReadonlyMap<string, string>;

/** The settings of this process by their declarations and layers. */
export type Configuration = {
  list(saved: ConsoleTexts): readonly SettingView[];
  isSecret(key: string): boolean;
  /** Why the console may not set this; undefined when it may. The value is never part of the reason. */
  refusalOf(key: string, text: string, saved: ConsoleTexts): string | undefined;
};
