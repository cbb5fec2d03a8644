import type { Signals } from '../../application/ports/signals.ts';

export type InProcessOptions = {
  /** Told of listeners that throw. */
  readonly onError?: (error: unknown) => void;
};

/** Signals inside one process: for tests, and for what the other adapters deliver at home. */
export function createInProcessSignals({ onError }: InProcessOptions = {}): Signals {
  const listeners = new Map<string, Set<{ readonly handler: (payload: string) => void }>>();
  let closed = false;

  function deliver(channel: string, payload: string): void {
    if (closed) return;
    for (const { handler } of [...(listeners.get(channel) ?? [])]) {
      try {
        handler(payload);
      } catch (error) {
        onError?.(error);
      }
    }
  }

  return {
    publish(channel, payload) {
      // Never inside the publisher's own call: a listener must not run in the middle of what it announces.
      setImmediate(() => {
        deliver(channel, payload);
      });
    },
    subscribe(channel, handler) {
      const listener = { handler };
      const those = listeners.get(channel) ?? new Set();
      listeners.set(channel, those.add(listener));
      return () => {
        those.delete(listener);
        if (those.size === 0 && listeners.get(channel) === those) listeners.delete(channel);
      };
    },
    close() {
      closed = true;
      listeners.clear();
      return Promise.resolve();
    },
  };
}
