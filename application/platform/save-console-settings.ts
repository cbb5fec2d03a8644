import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { type ConsoleValue, consoleSettingsEvents } from '../../domain/platform/console-settings-events.ts';
import { type ConsoleSettings, consoleSettingsDecider } from '../../domain/platform/console-settings.ts';
import { SECRET_MASK } from '../../domain/secret-mask.ts';
import { handleCommand } from '../handle-command.ts';
import type { Configuration } from '../ports/configuration.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Vault } from '../ports/vault.ts';
import { CONSOLE_SETTINGS_STREAM, consoleSecretPurpose, decryptConsoleSettings } from './decrypt-console-settings.ts';

export type SaveConsoleSettingsDependencies = {
  readonly eventStore: EventStore;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  readonly configuration: Configuration;
};

export type SavedSettings = {
  readonly saved: readonly string[];
  readonly refused: readonly { readonly key: string; readonly reason: string }[];
  readonly position: GlobalPosition | undefined;
};

type SettingsCheck = Pick<SavedSettings, 'saved' | 'refused'> & {
  /** The accepted settings that differ from the current ones. */
  readonly changes: Readonly<Record<string, ConsoleValue>>;
};

/**
 * Saves settings of the console. A process uses them from its next start on.
 * @param values By variable. Null: the console no longer sets it. An empty text turns the setting off; for a secret it
 * removes the secret. For a secret, `********` keeps the stored one.
 * @returns which settings are saved and which are refused; settings that need each other are judged together, and a
 * refused setting does not prevent saving those that do not need it
 * @throws `config_not_saved` when every setting is refused
 */
export async function saveConsoleSettings(
  values: Readonly<Record<string, string | null>>,
  context: CommandContext,
  { eventStore, vault, configuration }: SaveConsoleSettingsDependencies,
): Promise<SavedSettings> {
  let check: SettingsCheck = { saved: [], refused: [], changes: {} };
  const { position } = await handleCommand(
    {
      stream: CONSOLE_SETTINGS_STREAM,
      decider: consoleSettingsDecider,
      parse: consoleSettingsEvents.parse,
      decide(state) {
        check = checkSettings({ values, state }, { vault, configuration });
        return consoleSettingsDecider.decide(state, { kind: 'save', values: check.changes });
      },
    },
    { ...context, tenant: DEFAULT_TENANT },
    { eventStore },
  );
  const { saved, refused } = check;
  if (Object.keys(values).length > 0 && saved.length === 0)
    throw refusal('config_not_saved', { body: { saved, refused: [...refused] } });
  return { saved, refused, position };
}

/** Checks the settings together, as they would be in force after the next start. */
function checkSettings(
  { values, state }: { readonly values: Readonly<Record<string, string | null>>; readonly state: ConsoleSettings },
  { vault, configuration }: Pick<SaveConsoleSettingsDependencies, 'vault' | 'configuration'>,
): SettingsCheck {
  const { texts: saved } = decryptConsoleSettings(state, { vault });
  const isSecret = (key: string) => configuration.isSecret(key);
  const keeps = (key: string, value: string | null) => isSecret(key) && value === SECRET_MASK;
  const sent = Object.entries(values);
  const valuesByName = new Map(
    sent
      .filter(([key, value]) => !keeps(key, value))
      .map(([key, value]) => [key, value === null || (isSecret(key) && value === '') ? undefined : value]),
  );
  const refused = configuration.refusalsOf(valuesByName, saved);
  const changes: Record<string, ConsoleValue> = {};
  for (const [key, text] of valuesByName) {
    if (refused.has(key)) continue;
    if (text === undefined) changes[key] = null;
    else if (saved.get(key) !== text)
      changes[key] = isSecret(key) ? vault.sealSecret(consoleSecretPurpose(key), text) : text;
  }
  return {
    saved: sent.map(([key]) => key).filter((key) => !refused.has(key)),
    refused: sent.flatMap(([key]) => {
      const reason = refused.get(key);
      return reason === undefined ? [] : [{ key, reason }];
    }),
    changes,
  };
}
