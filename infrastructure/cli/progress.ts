import { MultiBar, Presets } from 'cli-progress';

/** A bar on a terminal; on anything else a line at every tenth of the way. Always on stderr: stdout is for results. */
export type ProgressBar = {
  /** `done` of `total`; both may grow. */
  update(done: number, total: number): void;
  finish(): void;
};

/** Starts a bar. `unit` is what is counted, such as `events`. */
export function progressBar({ label, unit, total }: { readonly label: string; readonly unit: string; readonly total: number }): ProgressBar {
  return process.stderr.isTTY ? bar({ label, unit, total }) : lines({ label, unit });
}

function bar({ label, unit, total }: { label: string; unit: string; total: number }): ProgressBar {
  const bars = new MultiBar(
    { format: `${label} {bar} {percentage}% {value}/{total} ${unit} {speed}/s, {eta_formatted} left`, hideCursor: true, clearOnComplete: false, stream: process.stderr },
    Presets.shades_grey,
  );
  const started = performance.now();
  const single = bars.create(total, 0, { speed: 0 });
  return {
    update(done, of) {
      single.setTotal(of);
      single.update(done, { speed: Math.round(done / Math.max((performance.now() - started) / 1000, 0.001)) });
    },
    finish() {
      bars.stop();
    },
  };
}

function lines({ label, unit }: { label: string; unit: string }): ProgressBar {
  let tenth = -1;
  return {
    update(done, total) {
      const reached = total === 0 ? 10 : Math.floor((done / total) * 10);
      if (reached <= tenth) return;
      tenth = reached;
      process.stderr.write(`${label} ${reached * 10}% (${done}/${total} ${unit})\n`);
    },
    finish() {
      if (tenth < 0) process.stderr.write(`${label} 100%\n`);
    },
  };
}
