import { stat } from 'node:fs/promises';
import type { Listener } from '../../api/http/listener.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { tlsOf } from './http-options.ts';

export type WatchTlsOptions = {
  readonly settings: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>;
  readonly listeners: readonly Pick<Listener, 'renew'>[];
  readonly logger: Logger;
  /** Between two looks, in milliseconds. Default 5000. */
  readonly everyMs?: number;
};

/**
 * Serves renewed certificates without a restart: the files are looked at now and then, which also sees the links that certificate managers swap.
 * A pair that does not fit (one file is written before the other) is tried again at the next look; the old one serves on.
 */
export function watchTls({ settings, listeners, logger, everyMs = 5_000 }: WatchTlsOptions): { stop(): void } {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return { stop: () => undefined };
  const files = [tlsCertFile, tlsKeyFile];
  let served: string | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const now = (await Promise.all(files.map((file) => stat(file)))).map(({ mtimeMs, size, ino }) => `${String(ino)}/${String(mtimeMs)}/${String(size)}`).join();
      served ??= now;
      if (now === served) return;
      const pair = tlsOf(settings);
      if (pair) for (const listener of listeners) listener.renew(pair);
      served = now;
      logger.info('the certificate was renewed');
    } catch (error) {
      logger.warn('the renewed certificate can not be served yet', { reason: error instanceof Error ? error.message : String(error) });
    } finally {
      looking = false;
    }
  }

  void look();
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
    },
  };
}
