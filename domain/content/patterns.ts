/** UUIDs of any version; new ones are version 7. */
export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Values of fields of type `slug`, and ids of presets. Slugs of entries follow `toSlug`. */
export const slugPattern = /^(?=.{1,200}$)[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
