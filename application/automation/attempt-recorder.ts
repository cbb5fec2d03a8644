import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../ports/logger.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import type { AttemptRecord, WebhookQueue } from '../ports/webhook-queue.ts';

const MAX_BATCH = 500;
const MAX_TRIES = 8;

/** Records attempts in groups: attempts that arrive while a group is written form the next group. */
export type AttemptRecorder = {
  /**
   * Records an attempt.
   * @returns false when another worker recorded it first, or the database was unreachable for all tries; the delivery
   * then becomes due again when its reservation expires
   */
  record(attempt: AttemptRecord): Promise<boolean>;
};

export function createAttemptRecorder({
  queue,
  logger,
}: {
  readonly queue: Pick<WebhookQueue, 'record'>;
  readonly logger: Logger;
}): AttemptRecorder {
  let waiting: { readonly attempt: AttemptRecord; readonly done: (recorded: boolean) => void }[] = [];
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    // Wait one turn of the event loop, so that responses that arrived together are written together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      const recorded = await recordGroup(group.map(({ attempt }) => attempt));
      for (const { attempt, done } of group) done(recorded.has(attempt.messageId));
    }
    writing = false;
  }

  async function recordGroup(attempts: readonly AttemptRecord[]): Promise<ReadonlySet<string>> {
    for (let tries = 1; ; tries += 1) {
      try {
        return new Set(await queue.record(attempts));
      } catch (error) {
        logger.error('webhook attempts were not recorded', {
          attempts: attempts.length,
          tries,
          reason: reasonOf(error),
        });
        if (tries === MAX_TRIES) return new Set();
        await pause(Math.min(100 * 2 ** tries, 5_000));
      }
    }
  }

  return {
    record(attempt) {
      return new Promise((resolve) => {
        waiting.push({ attempt, done: resolve });
        if (!writing) void write();
      });
    },
  };
}
