import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What a statement is for; it decides how long the statement may take. `read` and `write`: requests that read, and
 * requests that change something. `unlimited`: schema changes and rebuilds. Everything else is `background`.
 */
export type WorkClass = 'read' | 'write' | 'background' | 'unlimited';

/** Maximum time of a statement in milliseconds by class of work; 0: no limit. */
export type StatementLimits = Readonly<Record<Exclude<WorkClass, 'unlimited'>, number>>;

const running = new AsyncLocalStorage<{ readonly workClass: WorkClass; tenant: string | undefined }>();

/** Runs work whose statements belong to the class, also those of promises and timers that it starts. */
export function runAs<T>(workClass: WorkClass, work: () => T): T {
  return running.run({ workClass, tenant: currentTenant() }, work);
}

/** The class of the work that runs now. */
export function currentWorkClass(): WorkClass {
  return running.getStore()?.workClass ?? 'background';
}

/** From here on, the work of `runAs` that runs now uses the tenant's share of the connections. */
export function useShareOf(tenant: string): void {
  const work = running.getStore();
  if (work) work.tenant = tenant;
}

/** The tenant whose share of the connections the work that runs now uses. Undefined: it uses no share. */
export function currentTenant(): string | undefined {
  return running.getStore()?.tenant;
}
