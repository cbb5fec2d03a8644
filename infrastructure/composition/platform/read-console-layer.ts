import { readConsoleSettings } from '../../../application/platform/read-console-settings.ts';
import type { Configuration, ConsoleTexts } from '../../../application/ports/configuration.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import { type ProcessConfiguration, createConfiguration } from '../../configuration/configuration.ts';
import type { ReadSettings, SettingsLayer } from '../../configuration/read-settings.ts';
import type { Settings } from '../../configuration/settings/index.ts';

export type ConsoleLayer = Pick<ReadSettings, 'settings' | 'sources'> & { readonly configuration: Configuration };

/**
 * The settings with the values that the console saved. A saved value that would make the start fail, because another
 * layer has changed since, is ignored and logged as an error: only a running service can correct it.
 */
export async function readConsoleLayer(
  { settings: atStart, layers }: { readonly settings: Settings; readonly layers?: readonly SettingsLayer[] },
  dependencies: { readonly eventStore: EventStore; readonly vault: Vault; readonly logger: Logger },
): Promise<ConsoleLayer> {
  const configuration = createConfiguration({ layers: layers ?? [] });
  if (layers === undefined) return { settings: atStart, sources: {}, configuration };
  const { settings, sources } = configuration.readConsole(await usableTexts(configuration, dependencies));
  // Only the caller knows the address of the embedded database.
  const { databaseUrl, dataDir } = atStart;
  return { settings: { ...settings, databaseUrl, dataDir }, sources, configuration };
}

/** The saved values that can be opened and add no problem to the settings. */
async function usableTexts(
  configuration: ProcessConfiguration,
  { eventStore, vault, logger }: { readonly eventStore: EventStore; readonly vault: Vault; readonly logger: Logger },
): Promise<ConsoleTexts> {
  const { texts, unreadable } = await readConsoleSettings({ eventStore, vault });
  for (const variable of unreadable)
    logger.error('a setting saved in the console cannot be opened with the current ENCRYPTION_KEY', { variable });
  const usable = configuration.usableOf(texts);
  for (const variable of texts.keys())
    if (!usable.has(variable))
      logger.error('a setting saved in the console is ignored: the service would refuse to start with it', {
        variable,
      });
  return usable;
}
