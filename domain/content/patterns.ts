/** Ids in the API; any version is read, new ones are version 7. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Slugs of entries and of slug fields. */
export const slugPattern = /^(?=.{1,200}$)[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
