/**
 * Number of tables that one transaction of a rebuild reads or changes. A table may have hundreds of indexes; each of
 * them needs a lock too.
 */
export const TABLES_PER_TRANSACTION = 10;
