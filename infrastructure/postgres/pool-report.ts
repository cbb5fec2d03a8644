import type { Database } from './database.ts';

/** How many connections the pool of a database has, and how many of them are in use. */
export function poolReportOf(name: string, { pool }: Pick<Database, 'pool'>) {
  const { totalCount: total, idleCount: idle, waitingCount: waiting } = pool;
  const max = pool.options.max;
  return {
    name,
    max,
    total,
    idle,
    waiting,
    utilization: max === 0 ? 0 : Math.round(((total - idle) / max) * 1000) / 1000,
  };
}
