import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** Creates pauses that end when the signal aborts. A pause resolves to false then, and to true after its time. */
export function stoppablePause(stopping: AbortSignal): (milliseconds: number) => Promise<boolean> {
  // Any number of loops may pause on one signal; Node.js warns of more than ten.
  setMaxListeners(0, stopping);
  return (milliseconds) => pause(milliseconds, true, { signal: stopping }).catch(() => false);
}
