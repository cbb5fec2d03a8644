/**
 * Reserved field names that the built-in presets use, by content type. Only these types may use them, so that `status`
 * means the entry's status everywhere else.
 */
export const PRESET_NAMES: Readonly<Record<string, readonly string[]>> = {
  comments: ['status'],
  forms: ['slug'],
  form_submissions: ['data', 'status'],
};
