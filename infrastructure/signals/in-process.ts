import type { Signals } from '../../application/ports/signals.ts';

export type InProcessOptions = {
  /** Called with errors that handlers throw. */
  readonly onError?: (error: unknown) => void;
};

/** Opens signals within one process: for tests, and for local delivery in the other adapters. */
export function openInProcessSignals({ onError }: InProcessOptions = {}): Signals {
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
      // Asynchronous, so that a handler does not run within the publisher's own call.
      setImmediate(() => {
        deliver(channel, payload);
      });
    },
    subscribe(channel, handler) {
      const listener = { handler };
      const handlers = listeners.get(channel) ?? new Set();
      listeners.set(channel, handlers.add(listener));
      return () => {
        handlers.delete(listener);
        if (handlers.size === 0 && listeners.get(channel) === handlers) listeners.delete(channel);
      };
    },
    close() {
      closed = true;
      listeners.clear();
      return Promise.resolve();
    },
  };
}
