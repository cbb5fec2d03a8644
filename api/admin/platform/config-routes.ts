import { Type } from '@sinclair/typebox';
import { readConsoleSettings } from '../../../application/platform/read-console-settings.ts';
import {
  type SaveConsoleSettingsDependencies,
  saveConsoleSettings,
} from '../../../application/platform/save-console-settings.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { Texts, oneOf, strict } from '../../http/schemas.ts';

const Setting = Type.Object({
  key: Type.String(),
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Texts, Type.Null()]),
  source: oneOf(['environment', 'file', 'console', 'default']),
  overridable: Type.Boolean(),
  secret: Type.Boolean(),
  default: Type.String(),
  description: Type.String(),
});

const Value = Type.Union([
  Type.String({ maxLength: 20_000 }),
  Type.Number(),
  Type.Boolean(),
  Type.Null(),
  Type.Array(Type.Union([Type.String(), Type.Number()])),
]);

const SHARED = {
  api: 'admin',
  path: '/api/admin/config',
  tag: 'platform',
  access: { kind: 'session', roles: ['super_admin'] },
} as const;

export type ConfigRouteDependencies = SaveConsoleSettingsDependencies;

/** The settings of the installation, and the values that the console overrides. */
export function configRoutes(dependencies: ConfigRouteDependencies): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'GET',
      operation: 'listSettings',
      summary: 'List all settings with their values and sources. Secrets are masked',
      responses: { 200: Type.Object({ settings: Type.Array(Setting) }) },
      handler: async () => {
        const { texts } = await readConsoleSettings(dependencies);
        return { status: 200, body: { settings: dependencies.configuration.list(texts) } };
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      operation: 'saveSettings',
      summary:
        'Save settings. They take effect at the next start. Null removes the saved value, ******** keeps a secret, an empty text clears it',
      body: Type.Object({ values: Type.Record(Type.String({ maxLength: 200 }), Value) }, strict),
      responses: {
        200: Type.Object({
          saved: Texts,
          refused: Type.Array(Type.Object({ key: Type.String(), reason: Type.String() })),
        }),
      },
      refusals: ['config_not_saved'],
      handler: async ({ body, context }) => {
        const values = Object.fromEntries(Object.entries(body.values).map(([key, value]) => [key, textOf(value)]));
        const { saved, refused, position } = await saveConsoleSettings(values, context, dependencies);
        return {
          status: 200,
          body: { saved, refused },
          ...commitAt(position, []),
        };
      },
    }),
  ];
}

/** A value as it is written in an environment variable. */
function textOf(value: string | number | boolean | null | readonly (string | number)[]): string | null {
  if (value === null || typeof value === 'string') return value;
  return typeof value === 'object' ? value.join(',') : String(value);
}
