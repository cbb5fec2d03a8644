import { consoleSettingsEvents } from '../../domain/platform/console-settings-events.ts';
import { consoleSettingsDecider } from '../../domain/platform/console-settings.ts';
import { foldStream } from '../fold-stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Vault } from '../ports/vault.ts';
import {
  CONSOLE_SETTINGS_STREAM,
  type DecryptedConsoleSettings,
  decryptConsoleSettings,
} from './decrypt-console-settings.ts';

/** Reads the settings that the console saved, with their secrets opened. */
export async function readConsoleSettings({
  eventStore,
  vault,
}: {
  readonly eventStore: Pick<EventStore, 'readStream'>;
  readonly vault: Pick<Vault, 'openSecret'>;
}): Promise<DecryptedConsoleSettings> {
  const { state } = await foldStream(
    { stream: CONSOLE_SETTINGS_STREAM, decider: consoleSettingsDecider, parse: consoleSettingsEvents.parse },
    { eventStore },
  );
  return decryptConsoleSettings(state, { vault });
}
