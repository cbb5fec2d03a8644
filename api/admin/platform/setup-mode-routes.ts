import { Type } from '@sinclair/typebox';
import { refusal } from '../../../domain/errors.ts';
import { type Route, route } from '../../http/route.ts';
import { Texts } from '../../http/schemas.ts';

const SHARED = { api: 'admin', tag: 'platform', access: { kind: 'public' } } as const;

export type SetupMode = {
  /** Names of the missing settings. */
  readonly missing: () => readonly string[];
  /** Whether the text is the setup token. Compares in constant time. */
  readonly isToken: (text: string) => boolean;
};

export type SetupModeRouteDependencies = SetupMode;

/** The setup routes of a process in setup mode, which has neither a database nor secrets. */
export function setupModeRoutes(dependencies: SetupModeRouteDependencies): readonly Route[] {
  const { missing, isToken } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/setup',
      operation: 'getSetup',
      summary: 'Tell whether the first account still has to be created',
      responses: { 200: Type.Object({ setup_required: Type.Boolean() }) },
      handler: () => Promise.resolve({ status: 200, body: { setup_required: true } }),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/setup',
      operation: 'setUp',
      summary: 'Create the first account. Refused in setup mode, which has no database',
      body: Type.Unknown(),
      responses: {},
      refusals: ['unavailable'],
      handler: () =>
        Promise.reject(
          refusal('unavailable', { message: 'set what is missing and start without SVC_SETUP_MODE first' }),
        ),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/setup/status',
      operation: 'getSetupStatus',
      summary: 'List the missing settings',
      responses: { 200: Type.Object({ missing: Texts, ready: Type.Boolean() }) },
      refusals: ['invalid_setup_token'],
      handler: ({ header }) => {
        if (!isToken(header('x-setup-token') ?? '')) throw refusal('invalid_setup_token');
        const variables = missing();
        return Promise.resolve({
          status: 200,
          body: { missing: [...variables], ready: variables.length === 0 },
          headers: { 'Cache-Control': 'no-store' },
        });
      },
    }),
  ];
}
