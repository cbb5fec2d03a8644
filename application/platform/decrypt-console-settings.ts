import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ConsoleSettings } from '../../domain/platform/console-settings.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import { streamName } from '../../domain/stream.ts';
import type { ConsoleTexts } from '../ports/configuration.ts';
import type { Vault } from '../ports/vault.ts';

/**
 * Stream of the console settings. They apply to the whole installation, so the stream belongs to the default tenant.
 */
export const CONSOLE_SETTINGS_STREAM = streamName({ category: 'settings', tenant: DEFAULT_TENANT, id: 'console' });

/**
 * Console settings in plain text. `unreadable` names the secrets that cannot be opened with the current
 * `ENCRYPTION_KEY`.
 */
export type DecryptedConsoleSettings = { readonly texts: ConsoleTexts; readonly unreadable: readonly string[] };

/** Opens the sealed secrets among the console settings. */
export function decryptConsoleSettings(
  state: ConsoleSettings,
  { vault }: { readonly vault: Pick<Vault, 'openSecret'> },
): DecryptedConsoleSettings {
  const texts = new Map<string, string>();
  const unreadable: string[] = [];
  for (const [variable, value] of Object.entries<string | JsonObject>(state)) {
    if (typeof value === 'string') {
      texts.set(variable, value);
      continue;
    }
    try {
      texts.set(variable, vault.openSecret(consoleSecretPurpose(variable), value as SealedValue));
    } catch {
      unreadable.push(variable);
    }
  }
  return { texts, unreadable };
}

/** Purpose under which the secret of a variable is sealed. */
export function consoleSecretPurpose(variable: string): string {
  return `settings/${variable}`;
}
