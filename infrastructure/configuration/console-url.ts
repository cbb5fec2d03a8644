import type { Settings } from './settings/index.ts';

/** Where the console of a development install is looked for. */
const DEVELOPMENT_CONSOLE = 'http://localhost:5173';

/** Base address of the console, for links in mails: `SVC_CONSOLE_URL`, which has a default outside production (spec 1, Configuration). */
export function consoleUrlOf({ consoleUrl, appEnv }: Pick<Settings, 'consoleUrl' | 'appEnv'>): string | undefined {
  return consoleUrl ?? (appEnv === 'production' ? undefined : DEVELOPMENT_CONSOLE);
}
