import { write, writeSync } from 'node:fs';
import { Writable } from 'node:stream';

/** Most buffered bytes. Further lines are dropped and counted, so that a blocked reader does not exhaust the memory. */
const MAX_BUFFERED = 16_777_216;

export type BufferedOutput = Writable & {
  /** Writes the buffered lines synchronously. For the end of the process. */
  flushNow(): void;
};

/**
 * Creates a stream to a file descriptor that never blocks the caller. Lines are buffered and written in batches, one
 * asynchronous write at a time. (`process.stdout` writes synchronously to files and pipes.)
 */
export function createBufferedOutput({ descriptor }: { readonly descriptor: number }): BufferedOutput {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let writing = false;
  let dropped = 0;
  /**
   * Bytes that the running write has not confirmed. When the process ends during the write, they are written again
   * rather than lost.
   */
  let current: Buffer = Buffer.alloc(0);

  function next(): void {
    if (writing || waiting.length === 0) return;
    if (dropped > 0)
      waiting.push(Buffer.from(`{"level":"warn","message":"log lines were dropped","dropped":${dropped}}\n`));
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
      // The reader is closed, so the lines cannot be written anywhere.
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
      if (bytes + chunk.length > MAX_BUFFERED) dropped += 1;
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
        // The reader is closed or blocked. The process ends, so the lines are lost.
      }
    },
  });
}
