import type { Route } from '../../api/http/route.ts';
import type { ProcessRole } from '../configuration/settings/core.ts';

/** One module of the service: everything that the process serves and runs for it. */
export type Module = {
  /** The routes of both listeners. */
  readonly routes: readonly Route[];
  /** Background work that runs until the process stops. */
  readonly workers: readonly Worker[];
  /** Background work that the scheduler repeats. */
  readonly sweeps: readonly Sweep[];
  /** Releases what the module opened. Its workers have stopped before. */
  close(): Promise<void>;
};

/** Background work of one role. The start of the service does not wait for `start`; a failure is logged. */
export type Worker = {
  readonly name: string;
  /** A process without this role does not start the worker. */
  readonly role: Exclude<ProcessRole, 'api' | 'projector'>;
  start(): Promise<RunningWorker>;
};

export type RunningWorker = {
  /** Finishes the work that has begun. */
  stop(): Promise<void>;
};

/** Work that the scheduler repeats (role `scheduler`). Must be safe to run in several processes at once. */
export type Sweep = {
  readonly name: string;
  /** Pause between two runs, in milliseconds. */
  readonly everyMs: number;
  /** `stopping` is aborted when the process stops. @returns how many items were handled, 0 when nothing was due */
  readonly run: (stopping: AbortSignal) => Promise<number>;
};

/** What `composeModules` itself provides to modules. */
export type Composition = {
  /** Every route that this process serves; known once all modules are composed. */
  readonly servedRoutes: () => readonly Route[];
};

/** A module without parts; a composition replaces those that it has. */
export const EMPTY_MODULE: Module = {
  routes: [],
  workers: [],
  sweeps: [],
  close: () => Promise.resolve(),
};
