/**
 * Names that spec 4 B reserves and that fields of the built-in presets have all the same (spec 2, preset table): by content type. Only these
 * types may have them, so that `status` means the entry's own everywhere else.
 */
export const PRESET_NAMES: Readonly<Record<string, readonly string[]>> = {
  comments: ['status'],
  forms: ['slug'],
  form_submissions: ['data', 'status'],
};
