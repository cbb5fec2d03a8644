import type { IdentityChanges } from '../../application/identity/identity-changes.ts';
import type { GlobalPosition } from '../../domain/event.ts';

export type IdentityChangesOptions = {
  /** Position of the last event in the identity read model that changed what a credential may do. */
  readonly lastChange: () => Promise<string | undefined>;
  readonly progress: {
    position(name: string): GlobalPosition;
    onMove(name: string, listener: (position: GlobalPosition, applied: boolean) => void): () => void;
  };
  /** Milliseconds from a move to a look at whether it was one of ours. Default 100. */
  readonly settleMs?: number;
  /** Milliseconds between looks without any move, for signals that got lost. Default 500. */
  readonly pollMs?: number;
};

const NAME = 'identity';

/**
 * Watches the identity read model for every process: at most once in `settleMs` after it changed, and at intervals where signals got lost, one look
 * at `changes` says whether caches must go. What this process appended itself is told at once.
 */
export function watchIdentityChanges({ lastChange, progress, settleMs = 100, pollMs = 500 }: IdentityChangesOptions): IdentityChanges & { close(): void } {
  const listeners = new Set<() => void>();
  let expected: readonly GlobalPosition[] = [];
  let seen: string | undefined;
  let looking = false;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    for (const listener of listeners) listener();
  }

  function takeExpected(reached: GlobalPosition): void {
    const waiting = expected.filter((position) => position > reached);
    if (waiting.length === expected.length) return;
    expected = waiting;
    tell();
  }

  async function look(): Promise<void> {
    looking = true;
    try {
      const position = await lastChange();
      if (position !== seen) tell();
      seen = position;
    } catch {
      // Not knowing is treated like a change: credentials are asked for anew.
      tell();
    } finally {
      looking = false;
    }
  }

  const stopListening = progress.onMove(NAME, (position, applied) => {
    takeExpected(position);
    if (timer !== undefined || !applied) return;
    timer = setTimeout(() => {
      timer = undefined;
      void look();
    }, settleMs);
    timer.unref();
  });
  const poll = setInterval(() => {
    if (!looking && timer === undefined) void look();
  }, pollMs);
  poll.unref();

  return {
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    expect(position) {
      expected = [...expected, position];
      takeExpected(progress.position(NAME));
    },
    close() {
      stopListening();
      clearTimeout(timer);
      clearInterval(poll);
      listeners.clear();
    },
  };
}
