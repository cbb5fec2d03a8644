import { join, resolve } from 'node:path';
import type { Settings } from '../configuration/settings/index.ts';

/** The absolute path of the directory that mails are written to in development; undefined outside development. */
export function outboxDirectory({ appEnv, dataDir }: Pick<Settings, 'appEnv' | 'dataDir'>): string | undefined {
  return appEnv === 'development' ? join(resolve(dataDir), 'outbox') : undefined;
}
