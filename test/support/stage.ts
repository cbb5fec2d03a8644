/** Lets one of the running commands take its next step, and chooses which when all of them have come to one. */
export function openStage(choices: readonly number[]) {
  const waiting: (() => void)[] = [];
  let running = 0;
  let step = 0;
  function next(): void {
    if (waiting.length === 0 || waiting.length < running) return;
    const [chosen] = waiting.splice((choices[step % choices.length] ?? 0) % waiting.length, 1);
    step += 1;
    chosen?.();
  }
  return {
    step: () => new Promise<void>((resolve) => {
      waiting.push(resolve);
      next();
    }),
    async run(commands: readonly (() => Promise<unknown>)[]): Promise<void> {
      running = commands.length;
      await Promise.all(commands.map((command) => command().finally(() => {
        running -= 1;
        next();
      })));
    },
  };
}
