/**
 * Interleaves concurrent commands in a chosen order. A command that calls `step` waits. When every running command
 * waits, the next number of `choices` selects the one that continues.
 */
export function createStepScheduler(choices: readonly number[]) {
  const waiting: (() => void)[] = [];
  let running = 0;
  let steps = 0;
  function continueOne(): void {
    if (waiting.length === 0 || waiting.length < running) return;
    const [chosen] = waiting.splice((choices[steps % choices.length] ?? 0) % waiting.length, 1);
    steps += 1;
    chosen?.();
  }
  return {
    /** Resolves when the scheduler selects the calling command. */
    step: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        continueOne();
      }),
    /** Runs the commands at the same time. @throws the first error of a command */
    async run(commands: readonly (() => Promise<unknown>)[]): Promise<void> {
      running = commands.length;
      await Promise.all(
        commands.map((command) =>
          command().finally(() => {
            running -= 1;
            continueOne();
          }),
        ),
      );
    },
  };
}
