import type { UnappliedStream } from '../../projections/engine/replay.ts';

/** Collects the streams that a command could not apply completely. */
export type UnappliedStreams = {
  readonly add: (stream: UnappliedStream) => void;
  /** Prints the streams on stderr. @returns the exit code: 1 when there are any, else 0 */
  readonly report: () => number;
};

export function createUnappliedStreams(): UnappliedStreams {
  const streams: UnappliedStream[] = [];
  return {
    add: (stream) => streams.push(stream),
    report() {
      for (const { projection, stream, revision, reason } of streams)
        process.stderr.write(`not applied in ${projection}: ${stream} from revision ${revision} on: ${reason}\n`);
      return streams.length === 0 ? 0 : 1;
    },
  };
}
