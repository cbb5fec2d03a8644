import type { Decider } from '../decider.ts';
import type { JsonObject } from '../json.ts';
import { ownValue } from '../own-value.ts';
import type { ConsoleSettingsEvent, ConsoleValue } from './console-settings-events.ts';

/** Settings of the installation that the console saved, by the name of their variable: text, or a sealed secret. */
export type ConsoleSettings = { readonly [variable: string]: string | JsonObject };

/** Sets the given variables. Null removes one; the variables that are not given stay. */
export type ConsoleSettingsCommand = {
  readonly kind: 'save';
  readonly values: { readonly [variable: string]: ConsoleValue };
};

export const consoleSettingsDecider: Decider<ConsoleSettings, ConsoleSettingsCommand, ConsoleSettingsEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): ConsoleSettings {
  return {};
}

function decide(state: ConsoleSettings, command: ConsoleSettingsCommand): readonly ConsoleSettingsEvent[] {
  const changes = Object.entries<ConsoleValue>(command.values).filter(([variable, value]) =>
    value === null ? Object.hasOwn(state, variable) : ownValue(state, variable) !== value,
  );
  return changes.length === 0 ? [] : [{ type: 'ConsoleSettingsSaved', data: { values: Object.fromEntries(changes) } }];
}

function evolve(state: ConsoleSettings, event: ConsoleSettingsEvent): ConsoleSettings {
  const all = Object.entries<ConsoleValue>({ ...state, ...event.data.values });
  return Object.fromEntries(all.filter((entry): entry is [string, string | JsonObject] => entry[1] !== null));
}
