import type { Settings } from '../../configuration/settings/index.ts';
import { createLogger } from '../../logging/create-logger.ts';

/** The logger that `LOG_LEVEL` and `LOG_FORMAT` name; without a format JSON in production, else readable text. */
export function createProcessLogger({
  settings: { logLevel, logFormat, appEnv },
  ...options
}: {
  readonly settings: Pick<Settings, 'logLevel' | 'logFormat' | 'appEnv'>;
  readonly descriptor?: 1 | 2;
}): ReturnType<typeof createLogger> {
  return createLogger({
    level: logLevel,
    format: logFormat ?? (appEnv === 'production' ? 'json' : 'pretty'),
    ...options,
  });
}
