import { IDENTITY } from '../../application/identity/identity-read-model.ts';
import type { IdentityChanges } from '../../application/ports/identity-changes.ts';
import type { GlobalPosition } from '../../domain/event.ts';

export type IdentityChangesOptions = {
  /** Position of the last event in the identity read model that changed the rights of a credential. */
  readonly lastChange: () => Promise<string | undefined>;
  readonly progress: {
    position(name: string): GlobalPosition;
    onMove(name: string, listener: (position: GlobalPosition, applied: boolean) => void): () => void;
  };
  /** Milliseconds between a move of the read model and the check for changes. Default 100. */
  readonly settleMs?: number;
  /** Milliseconds between checks without a move, in case signals get lost. Default 500. */
  readonly pollMs?: number;
};

/**
 * Notifies the caches of this process when the identity read model changes the rights of a credential. After a move, at
 * most once in `settleMs`, and every `pollMs`, it compares the position of the last change. Changes that this process
 * appended are notified as soon as the read model reaches them.
 */
export function openIdentityChanges({
  lastChange,
  progress,
  settleMs = 100,
  pollMs = 500,
}: IdentityChangesOptions): IdentityChanges & { close(): void } {
  const listeners = new Set<() => void>();
  let expected: readonly GlobalPosition[] = [];
  let latestChange: string | undefined;
  let checking = false;
  let timer: NodeJS.Timeout | undefined;

  function notify(): void {
    for (const listener of listeners) listener();
  }

  function notifyExpected(reached: GlobalPosition): void {
    const waiting = expected.filter((position) => position > reached);
    if (waiting.length === expected.length) return;
    expected = waiting;
    notify();
  }

  async function check(): Promise<void> {
    checking = true;
    try {
      const position = await lastChange();
      if (position !== latestChange) notify();
      latestChange = position;
    } catch {
      // The caches may be stale; make them reload.
      notify();
    } finally {
      checking = false;
    }
  }

  const stopListening = progress.onMove(IDENTITY, (position, applied) => {
    notifyExpected(position);
    if (timer !== undefined || !applied) return;
    timer = setTimeout(() => {
      timer = undefined;
      void check();
    }, settleMs);
    timer.unref();
  });
  const poll = setInterval(() => {
    if (!checking && timer === undefined) void check();
  }, pollMs);
  poll.unref();

  return {
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    expect(position) {
      expected = [...expected, position];
      notifyExpected(progress.position(IDENTITY));
    },
    close() {
      stopListening();
      clearTimeout(timer);
      clearInterval(poll);
      listeners.clear();
    },
  };
}
