import type { JsonObject } from '../../domain/json.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './settings/index.ts';

/** One level of nesting in the file: its settings and the levels below, both by key. */
type Level = { readonly settings: Map<string, Setting<unknown>>; readonly below: Map<string, Level> };

/**
 * JSON Schema (2020-12) of `svc.yaml`, for completion in editors. It lists every setting twice: under its full name in
 * lower case, and under its first word with the rest nested below. The reader also accepts deeper nesting.
 */
export function settingsSchema(): JsonObject {
  const top: Level = { settings: new Map(), below: new Map() };
  for (const setting of Object.values<Setting<unknown>>(SETTINGS)) {
    if (setting.layers === 'environment') continue;
    const key = setting.name.toLowerCase();
    top.settings.set(key, setting);
    const [first, ...rest] = key.split('_');
    if (first === undefined || rest.length === 0) continue;
    const level = top.below.get(first) ?? { settings: new Map(), below: new Map() };
    top.below.set(first, level);
    level.settings.set(rest.join('_'), setting);
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of Palimpsest (svc.yaml)',
    type: 'object',
    properties: {
      $include: {
        description: 'Files that are merged before this one; values in this file win.',
        oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      },
      schemas: {
        description: 'Content types that are created or updated at start in the default tenant.',
        type: 'array',
        items: { type: 'object', required: ['name', 'fields'] },
      },
      plugins: { description: 'Settings by feature.', type: 'object' },
      ...properties(top),
    },
  };
}

function properties({ settings, below }: Level): JsonObject {
  const levels = [...below]
    .filter(([key]) => !settings.has(key))
    .map(([key, level]): [string, JsonObject] => [key, { type: 'object', properties: properties(level) }]);
  return Object.fromEntries(
    [...[...settings].map(([key, setting]): [string, JsonObject] => [key, valueOf(setting)]), ...levels].toSorted(
      ([a], [b]) => (a < b ? -1 : 1),
    ),
  );
}

/** A value may also be null, which unsets the setting, or text that reads the environment (`${VAR}`). */
function valueOf({ parser, description, shownDefault }: Setting<unknown>): JsonObject {
  const about = { description: `${description} Default: ${shownDefault}.` };
  if (parser.schema === undefined) return { ...about, type: ['string', 'null'] };
  return { ...about, anyOf: [parser.schema, { type: 'string' }, { type: 'null' }] };
}
