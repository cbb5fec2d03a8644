/** Name of the read model that the commands of this module change. */
export const IDENTITY = 'identity';
