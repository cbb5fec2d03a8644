/** Runs work alone among all processes of the install, in the order of arrival. For rare decisions over several streams, never on a hot path. */
export type Exclusive = <T>(name: string, work: () => Promise<T>) => Promise<T>;
