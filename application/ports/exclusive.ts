/**
 * Runs work while no other process of the installation runs work with the same name; calls run in order of arrival. For
 * rare decisions over several streams, never on a hot path.
 */
export type Exclusive = <T>(name: string, work: () => Promise<T>) => Promise<T>;
