import type { Decider } from '../decider.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** A value as the console saved it: text, a sealed secret, or null for one that it says nothing about any more. */
export type ConsoleValue = string | JsonObject | null;

/** Event of stream `settings-default.console`: settings of the install that the console saved, by variable. */
export type ConsoleSettingsEvent = DomainEvent<'ConsoleSettingsSaved', { readonly values: { readonly [variable: string]: ConsoleValue } }>;

/** What the console says, by variable. */
export type ConsoleSettings = { readonly [variable: string]: string | JsonObject };

export const consoleSettingsDecider: Decider<ConsoleSettings, ConsoleSettingsEvent> = {
  initialState: () => ({}),
  evolve: (state, { data }) => {
    const all = Object.entries<ConsoleValue>({ ...state, ...data.values });
    return Object.fromEntries(all.filter((entry): entry is [string, string | JsonObject] => entry[1] !== null));
  },
};

/** @throws TypeError for an event of another kind */
export function parseConsoleSettingsEvent(event: RecordedEvent): ConsoleSettingsEvent {
  if (!isConsoleSettingsEvent(event)) throw new TypeError(`not an event of the console's settings: ${event.type}`);
  return event;
}

function isConsoleSettingsEvent(event: RecordedEvent): event is RecordedEvent & ConsoleSettingsEvent {
  return event.type === 'ConsoleSettingsSaved';
}
