import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What a statement is for; it decides how long the statement may take. `read` and `write`: requests that read, and
 * requests that change something. `unlimited`: schema changes and rebuilds. Everything else is `background`.
 */
export type WorkClass = 'read' | 'write' | 'background' | 'unlimited';

/** Maximum time of a statement in milliseconds by class of work; 0: no limit. */
export type StatementLimits = Readonly<Record<Exclude<WorkClass, 'unlimited'>, number>>;

const running = new AsyncLocalStorage<WorkClass>();

/** Runs work whose statements belong to the class, also those of promises and timers that it starts. */
export function runAs<T>(workClass: WorkClass, work: () => T): T {
  return running.run(workClass, work);
}

/** The class of the work that runs now. */
export function currentWorkClass(): WorkClass {
  return running.getStore() ?? 'background';
}
