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
import { CONSOLE_SETTINGS_STREAM, consoleSecretPurpose, openConsoleSettings } from './open-console-settings.ts';

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
 * @returns which settings are saved and which are refused; a refused setting does not prevent saving the others
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

/** Checks each setting together with those accepted before it. */
function checkSettings(
  { values, state }: { readonly values: Readonly<Record<string, string | null>>; readonly state: ConsoleSettings },
  { vault, configuration }: Pick<SaveConsoleSettingsDependencies, 'vault' | 'configuration'>,
): SettingsCheck {
  const saved: string[] = [];
  const refused: { key: string; reason: string }[] = [];
  const changes: Record<string, ConsoleValue> = {};
  const known = new Map(openConsoleSettings(state, { vault }).texts);
  for (const [key, value] of Object.entries(values)) {
    const secret = configuration.isSecret(key);
    if (secret && value === SECRET_MASK) {
      saved.push(key);
      continue;
    }
    const reason = configuration.refusalOf(key, value ?? '', known);
    if (reason !== undefined) {
      refused.push({ key, reason });
      continue;
    }
    saved.push(key);
    if (value === null || (secret && value === '')) {
      known.delete(key);
      changes[key] = null;
    } else if (known.get(key) !== value) {
      known.set(key, value);
      changes[key] = secret ? vault.sealSecret(consoleSecretPurpose(key), value) : value;
    }
  }
  return { saved, refused, changes };
}
