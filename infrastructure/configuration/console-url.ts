import type { Settings } from './settings/index.ts';

const DEVELOPMENT_CONSOLE = 'http://localhost:5173';

/** Base URL of the console, for links in mails: `SVC_CONSOLE_URL`; outside production it has a default. */
export function consoleUrlOf({ consoleUrl, appEnv }: Pick<Settings, 'consoleUrl' | 'appEnv'>): string | undefined {
  return consoleUrl ?? (appEnv === 'production' ? undefined : DEVELOPMENT_CONSOLE);
}
