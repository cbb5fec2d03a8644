import type { Migration } from './migration.ts';

/** Every migration there is, one file each beside this one. */
export const migrations: readonly Migration[] = [];
