import { readConsoleSettings } from '../../application/platform/console-settings.ts';
import type { ConsoleTexts } from '../../application/ports/configuration.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { createConfiguration } from '../configuration/configuration.ts';
import { problemsOf } from '../configuration/load-settings.ts';
import type { ReadSettings } from '../configuration/read-settings.ts';
import type { Settings } from '../configuration/settings/index.ts';

export type WithConsoleOptions = {
  readonly atStart: Settings;
  readonly configuration: ReturnType<typeof createConfiguration>;
  readonly eventStore: EventStore;
  readonly vault: Vault;
  readonly logger: Logger;
};

/**
 * The settings with what the console saved. A saved value that would refuse the start (because another layer changed since) is left out and
 * named in the log: a start must not depend on what only a running service can mend.
 */
export async function withConsoleSettings({ atStart, configuration, eventStore, vault, logger }: WithConsoleOptions): Promise<Pick<ReadSettings, 'settings' | 'sources'>> {
  const { texts, unreadable } = await readConsoleSettings({ eventStore, vault });
  for (const variable of unreadable) logger.error('a setting of the console can not be opened with this ENCRYPTION_KEY', { variable });
  const kept = new Map<string, string>();
  for (const [variable, text] of texts) {
    const stands = problemsOf(configuration.withConsole(new Map([...kept, [variable, text]]))).some((problem) => !knownBefore(problem.variable, kept));
    if (stands) logger.error('a setting of the console is passed over: the start would be refused with it', { variable });
    else kept.set(variable, text);
  }
  const { settings, sources } = configuration.withConsole(kept);
  // Where the embedded database runs is known only now.
  return { settings: { ...settings, databaseUrl: atStart.databaseUrl, dataDir: atStart.dataDir }, sources };

  function knownBefore(variable: string, before: ConsoleTexts): boolean {
    return problemsOf(configuration.withConsole(before)).some((problem) => problem.variable === variable);
  }
}
