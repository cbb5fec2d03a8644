/** Values of fields of type `slug`, and ids of presets. Slugs of entries follow `toSlug`. */
export const SLUG_PATTERN = /^(?=.{1,200}$)[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
