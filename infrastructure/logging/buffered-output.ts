import { write, writeSync } from 'node:fs';
import { Writable } from 'node:stream';

/** Bytes that may wait; what comes on top of it is dropped and counted, so that a stuck reader can't fill the memory. */
const MAX_WAITING = 16_777_216;

export type BufferedOutput = Writable & {
  /** Writes what waits at once, blocking: for the end of the process. */
  flushNow(): void;
};

/**
 * A stream onto a file descriptor that never blocks the caller: lines are gathered and written in one asynchronous call at a time.
 * (`process.stdout` writes synchronously to files and pipes.)
 */
export function bufferedOutput(descriptor: number): BufferedOutput {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let writing = false;
  let dropped = 0;
  /** What the call under way has not written yet; written twice rather than lost when the process ends in its midst. */
  let current: Buffer = Buffer.alloc(0);

  function next(): void {
    if (writing || waiting.length === 0) return;
    if (dropped > 0) waiting.push(Buffer.from(`{"level":"warn","message":"log lines were dropped","dropped":${dropped}}\n`));
    dropped = 0;
    current = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    writing = true;
    step();
  }

  function step(): void {
    write(descriptor, current, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(step, 5);
        return;
      }
      // Nobody reads any more: there is no one to tell.
      current = error ? Buffer.alloc(0) : current.subarray(written);
      if (current.length > 0) {
        step();
        return;
      }
      writing = false;
      next();
    });
  }

  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      if (bytes + chunk.length > MAX_WAITING) dropped += 1;
      else {
        waiting.push(chunk);
        bytes += chunk.length;
        next();
      }
      done();
    },
  });
  return Object.assign(stream, {
    flushNow: () => {
      let rest = Buffer.concat([current, ...waiting]);
      current = Buffer.alloc(0);
      waiting = [];
      bytes = 0;
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
      } catch {
        // The reader is gone or full; the process ends anyway.
      }
    },
  });
}
