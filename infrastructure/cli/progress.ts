import { MultiBar, Presets } from 'cli-progress';

/**
 * A progress bar on a terminal; elsewhere one line for each 10 percent. Written to stderr, because stdout is for
 * results.
 */
type ProgressBar = {
  /** Shows `done` of `total`; both may grow. */
  update(done: number, total: number): void;
  finish(): void;
};

/** One step of a command, such as the rebuild of one read model. */
export type ProgressStep = {
  readonly label: string;
  /** What is counted, such as `events`. */
  readonly unit: string;
};

export type Progress = {
  /**
   * Shows `done` of `total` for the step; another label than before finishes the bar and starts a new one. Both numbers
   * may grow.
   */
  update(step: ProgressStep, done: number, total: number): void;
  finish(): void;
};

/** Shows one bar for each step. */
export function createProgress(): Progress {
  let current: { readonly label: string; readonly bar: ProgressBar } | undefined;
  return {
    update(step, done, total) {
      if (current?.label !== step.label) {
        current?.bar.finish();
        current = { label: step.label, bar: startBar(step, total) };
      }
      current.bar.update(done, total);
    },
    finish() {
      current?.bar.finish();
    },
  };
}

function startBar(step: ProgressStep, total: number): ProgressBar {
  return process.stderr.isTTY ? drawnBar(step, total) : printedLines(step);
}

function drawnBar({ label, unit }: ProgressStep, total: number): ProgressBar {
  const bars = new MultiBar(
    {
      format: `${label} {bar} {percentage}% {value}/{total} ${unit} {speed}/s, {eta_formatted} left`,
      hideCursor: true,
      clearOnComplete: false,
      stream: process.stderr,
    },
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

function printedLines({ label, unit }: ProgressStep): ProgressBar {
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
