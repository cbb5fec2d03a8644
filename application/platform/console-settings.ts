import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ConsoleSettings, ConsoleSettingsEvent, ConsoleValue } from '../../domain/platform/console-settings.ts';
import { consoleSettingsDecider, parseConsoleSettingsEvent } from '../../domain/platform/console-settings.ts';
import { streamName } from '../../domain/stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { Configuration, ConsoleTexts } from '../ports/configuration.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Sealed, Vault } from '../ports/vault.ts';

export type ConsoleSettingsDependencies = { readonly eventStore: EventStore; readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'> };

/** Settings belong to the install, whatever tenant they are saved in. */
const STREAM = streamName({ category: 'settings', tenant: 'default', id: 'console' });
/** What stands in place of a secret; written back it keeps the stored one (spec 1, Configuration). */
export const MASK = '********';

/** What the console says, secrets opened. Those that can't be opened (another `ENCRYPTION_KEY`) are named and left out. */
export async function readConsoleSettings({ eventStore, vault }: ConsoleSettingsDependencies): Promise<{ readonly texts: ConsoleTexts; readonly unreadable: readonly string[] }> {
  let state = consoleSettingsDecider.initialState();
  for await (const event of eventStore.readStream(STREAM)) state = consoleSettingsDecider.evolve(state, parseConsoleSettingsEvent(event));
  return open(state, vault);
}

export type SavedSettings = {
  readonly saved: readonly string[];
  readonly refused: readonly { readonly key: string; readonly reason: string }[];
  readonly position: GlobalPosition | undefined;
};

/**
 * Saves settings of the console, each by itself: a refused one holds no other back. Null takes the console's word back, an empty text turns the
 * setting off (and clears a secret). They hold from the next start of a process on (spec 1, Configuration).
 * @throws `config_not_saved` (409) when nothing could be saved
 */
export async function saveConsoleSettings(
  values: Readonly<Record<string, string | null>>,
  context: CommandContext,
  { eventStore, vault, configuration }: ConsoleSettingsDependencies & { readonly configuration: Configuration },
): Promise<SavedSettings> {
  const keys = Object.keys(values);
  let saved: string[] = [];
  let refused: { key: string; reason: string }[] = [];
  const { position } = await handleCommand({
    eventStore,
    stream: STREAM,
    decider: consoleSettingsDecider,
    parse: parseConsoleSettingsEvent,
    context: { ...context, tenant: 'default' },
    decide: (state): readonly ConsoleSettingsEvent[] => {
      saved = [];
      refused = [];
      const { texts } = open(state, vault);
      const known = new Map(texts);
      const changed: Record<string, ConsoleValue> = {};
      for (const [key, value] of Object.entries(values)) {
        const secret = configuration.isSecret(key);
        const reason = secret && value === MASK ? undefined : configuration.refusalOf(key, value ?? '', known);
        if (reason !== undefined) {
          refused.push({ key, reason });
          continue;
        }
        saved.push(key);
        if (secret && value === MASK) continue;
        if (value === null || (secret && value === '')) {
          known.delete(key);
          if (key in state) changed[key] = null;
        } else if (known.get(key) !== value) {
          known.set(key, value);
          changed[key] = secret ? vault.sealSecret(purposeOf(key), value) : value;
        }
      }
      return Object.keys(changed).length === 0 ? [] : [{ type: 'ConsoleSettingsSaved', data: { values: changed } }];
    },
  });
  if (keys.length > 0 && saved.length === 0) throw refusal('config_not_saved', { body: { saved, refused } });
  return { saved, refused, position };
}

function open(state: ConsoleSettings, vault: Pick<Vault, 'openSecret'>): { readonly texts: ConsoleTexts; readonly unreadable: readonly string[] } {
  const texts = new Map<string, string>();
  const unreadable: string[] = [];
  for (const [key, value] of Object.entries<string | JsonObject>(state)) {
    if (typeof value === 'string') {
      texts.set(key, value);
      continue;
    }
    try {
      texts.set(key, vault.openSecret(purposeOf(key), value as Sealed));
    } catch {
      unreadable.push(key);
    }
  }
  return { texts, unreadable };
}

function purposeOf(key: string): string {
  return `settings/${key}`;
}
