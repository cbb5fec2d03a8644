import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { refusal } from '../../domain/errors.ts';

export type HashTask =
  | { readonly kind: 'bcrypt'; readonly password: string; readonly cost: number }
  | { readonly kind: 'argon2id'; readonly password: string; readonly memoryKiB: number; readonly passes: number }
  | { readonly kind: 'compare'; readonly password: string; readonly hash: string };

export type HashWorkers = {
  /** @returns the hash, or whether the password matches. @throws `unavailable` when too many tasks are waiting */
  run(task: HashTask): Promise<string | boolean>;
  readonly close: () => Promise<void>;
};

/** A task and its caller. */
type Job = {
  readonly task: HashTask;
  readonly resolve: (result: string | boolean) => void;
  readonly reject: (error: Error) => void;
};
/** A thread and its current job. */
type Slot = { readonly worker: Worker; job: Job | undefined; idle: NodeJS.Timeout | undefined };
type Reply = { readonly result: string | boolean } | { readonly error: string };

/** Most waiting tasks: about a minute of work for one thread at bcrypt cost 12. Later tasks are refused at once. */
const MAX_WAITING = 250;
const IDLE_MS = 30_000;

/** The program of a thread, as text, so that it runs from the sources and from the bundle. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const bcrypt = async () => (await import(workerData.bcrypt)).default;
const argon2 = async () => (await import(workerData.argon2)).default;
async function run(task) {
  if (task.kind === 'bcrypt') return (await bcrypt()).hashSync(task.password, task.cost);
  if (task.kind === 'argon2id') {
    const { hash, argon2id } = await argon2();
    return hash(task.password, { type: argon2id, memoryCost: task.memoryKiB, timeCost: task.passes, parallelism: 1 });
  }
  if (task.hash.startsWith('$argon2')) return (await argon2()).verify(task.hash, task.password);
  return (await bcrypt()).compareSync(task.password, task.hash);
}
parentPort.on('message', async (task) => {
  try {
    parentPort.postMessage({ result: await run(task) });
  } catch (error) {
    parentPort.postMessage({ error: String(error) });
  }
});
`;

/**
 * Opens a pool of threads that hash one password at a time. Threads start on demand, stop when idle, and do not keep
 * the process alive.
 */
export function openHashWorkers({
  threads = Math.min(4, Math.max(1, availableParallelism() - 1)),
}: { readonly threads?: number } = {}): HashWorkers {
  const { resolve } = createRequire(import.meta.url);
  const [bcrypt, argon2] = [resolve('bcryptjs'), resolve('argon2')].map((path) => pathToFileURL(path).href);
  const slots = new Set<Slot>();
  const waiting: Job[] = [];

  function start(): Slot {
    const worker = new Worker(PROGRAM, { eval: true, workerData: { bcrypt, argon2 }, execArgv: [] });
    const slot: Slot = { worker, job: undefined, idle: undefined };
    slots.add(slot);
    worker.on('message', (reply: Reply) => {
      const { job } = slot;
      slot.job = undefined;
      if ('result' in reply) job?.resolve(reply.result);
      else job?.reject(new Error(reply.error));
      dispatch();
    });
    worker.on('error', (error) => slot.job?.reject(error));
    worker.on('exit', () => {
      slots.delete(slot);
      slot.job?.reject(new Error('the hashing thread ended'));
      dispatch();
    });
    return slot;
  }

  function dispatch(): void {
    for (const slot of slots) {
      if (slot.job) continue;
      const job = waiting.shift();
      if (!job) {
        stopWhenIdle(slot);
        continue;
      }
      assign(slot, job);
    }
    while (waiting.length > 0 && slots.size < threads) {
      const job = waiting.shift();
      if (job) assign(start(), job);
    }
  }

  function assign(slot: Slot, job: Job): void {
    clearTimeout(slot.idle);
    slot.job = job;
    slot.worker.ref();
    slot.worker.postMessage(job.task);
  }

  function stopWhenIdle(slot: Slot): void {
    slot.worker.unref();
    clearTimeout(slot.idle);
    slot.idle = setTimeout(() => void slot.worker.terminate(), IDLE_MS);
    slot.idle.unref();
  }

  return {
    run(task) {
      if (waiting.length >= MAX_WAITING)
        return Promise.reject(refusal('unavailable', { headers: { 'Retry-After': '5' } }));
      return new Promise((resolve, reject) => {
        waiting.push({ task, resolve, reject });
        dispatch();
      });
    },
    async close() {
      for (const { reject } of waiting.splice(0)) reject(refusal('unavailable'));
      await Promise.all(
        [...slots].map(({ worker, idle }) => {
          clearTimeout(idle);
          return worker.terminate();
        }),
      );
    },
  };
}
