import { Type } from '@sinclair/typebox';
import type { ConsoleSettingsDependencies } from '../../../application/platform/console-settings.ts';
import { readConsoleSettings, saveConsoleSettings } from '../../../application/platform/console-settings.ts';
import type { Configuration } from '../../../application/ports/configuration.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';

const Setting = Type.Object({
  key: Type.String(),
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String()), Type.Null()]),
  source: Type.Union([Type.Literal('environment'), Type.Literal('file'), Type.Literal('console'), Type.Literal('default')]),
  overridable: Type.Boolean(),
  secret: Type.Boolean(),
  default: Type.String(),
  description: Type.String(),
});

const Value = Type.Union([Type.String({ maxLength: 20_000 }), Type.Number(), Type.Boolean(), Type.Null(), Type.Array(Type.Union([Type.String(), Type.Number()]))]);

const SHARED = { api: 'admin', path: '/api/admin/config', tag: 'platform', access: { kind: 'session', roles: ['super_admin'] } } as const;

/** The install's settings and what the console says of them (spec 1, Features, license, configuration; spec 4 A, settings). */
export function configRoutes(dependencies: ConsoleSettingsDependencies & { readonly configuration: Configuration }): readonly Route[] {
  return [
    route({
      ...SHARED,
      method: 'GET',
      operation: 'listSettings',
      summary: 'Every setting, its value and the layer it comes from; secrets are masked',
      answers: { 200: Type.Object({ settings: Type.Array(Setting) }) },
      handler: async () => {
        const { texts } = await readConsoleSettings(dependencies);
        return { status: 200, body: { settings: dependencies.configuration.list(texts) } };
      },
    }),
    route({
      ...SHARED,
      method: 'PUT',
      operation: 'saveSettings',
      summary: 'Save settings; they hold from the next start on. Null takes the console\'s word back, ******** keeps a secret, an empty text clears it',
      body: Type.Object({ values: Type.Record(Type.String({ maxLength: 200 }), Value) }, { additionalProperties: false }),
      answers: { 200: Type.Object({ saved: Type.Array(Type.String()), refused: Type.Array(Type.Object({ key: Type.String(), reason: Type.String() })) }) },
      refusals: ['config_not_saved'],
      handler: async ({ body, context }) => {
        const values = Object.fromEntries(Object.entries(body.values).map(([key, value]) => [key, textOf(value)]));
        const { saved, refused, position } = await saveConsoleSettings(values, context, dependencies);
        return { status: 200, body: { saved, refused }, ...(position === undefined ? {} : { commit: { position, readModels: [] } }) };
      },
    }),
  ];
}

/** A value as the environment would write it. */
function textOf(value: string | number | boolean | null | readonly (string | number)[]): string | null {
  if (value === null || typeof value === 'string') return value;
  return typeof value === 'object' ? value.join(',') : String(value);
}
