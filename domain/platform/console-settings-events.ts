import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** A setting that the console saved: text, or a sealed secret. Null: the console no longer sets it. */
export type ConsoleValue = string | JsonObject | null;

/** Event of stream `settings-default.console`: the settings that changed, by the name of their variable. */
export type ConsoleSettingsEvent = DomainEvent<
  'ConsoleSettingsSaved',
  { readonly values: { readonly [variable: string]: ConsoleValue } }
>;

export const consoleSettingsEvents = eventParser<ConsoleSettingsEvent>('console settings', ['ConsoleSettingsSaved']);
