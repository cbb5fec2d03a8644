import { stat } from 'node:fs/promises';
import type { Listener } from '../../api/http/listener.ts';
import { createSharedRun } from '../../application/concurrency/shared-run.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { tlsOf } from './http-options.ts';

export type WatchTlsOptions = {
  readonly settings: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>;
  readonly listeners: readonly Pick<Listener, 'renew'>[];
  readonly logger: Logger;
  /** Pause between two checks of the files, in milliseconds. Default 5000. */
  readonly everyMs?: number;
};

/**
 * Serves renewed certificates without a restart. Polls the files, because file events miss the symbolic links that
 * certificate managers swap. A certificate and key that do not belong together (one file is written before the other)
 * are tried again at the next check; until then the previous pair is served.
 */
export function watchTls({ settings, listeners, logger, everyMs = 5_000 }: WatchTlsOptions): { stop(): void } {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return { stop: () => undefined };
  const files = [tlsCertFile, tlsKeyFile];
  let served: string | undefined;

  const { run: check } = createSharedRun(async () => {
    try {
      const current = (await Promise.all(files.map((file) => stat(file))))
        .map(({ mtimeMs, size, ino }) => `${String(ino)}/${String(mtimeMs)}/${String(size)}`)
        .join();
      served ??= current;
      if (current === served) return;
      const pair = tlsOf(settings);
      if (pair) for (const listener of listeners) listener.renew(pair);
      served = current;
      logger.info('the certificate was renewed');
    } catch (error) {
      logger.warn('the renewed certificate cannot be served yet', {
        reason: reasonOf(error),
      });
    }
  });

  void check();
  const timer = setInterval(() => void check(), everyMs);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
    },
  };
}
