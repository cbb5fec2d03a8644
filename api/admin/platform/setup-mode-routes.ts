import { Type } from '@sinclair/typebox';
import { refusal } from '../../../domain/errors.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';

export type SetupMode = {
  /** Variables that stand in the way of a start. */
  readonly missing: () => readonly string[];
  /** Whether the text is the setup token; constant in time. */
  readonly isToken: (text: string) => boolean;
};

/** The setup routes of a process in setup mode: it has neither database nor secrets (spec 1, sign-in and session; spec 4 A, sign-in details). */
export function setupModeRoutes({ missing, isToken }: SetupMode): readonly Route[] {
  const shared = { api: 'admin', tag: 'platform', access: { kind: 'public' } } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/api/admin/setup',
      operation: 'getSetup',
      summary: 'Whether the first account is still to be made',
      answers: { 200: Type.Object({ setup_required: Type.Boolean() }) },
      handler: () => Promise.resolve({ status: 200, body: { setup_required: true } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/api/admin/setup',
      operation: 'setUp',
      summary: 'Refused in setup mode: there is no database yet',
      body: Type.Unknown(),
      answers: {},
      refusals: ['unavailable'],
      handler: () => Promise.reject(refusal('unavailable', { message: 'set what is missing and start without SVC_SETUP_MODE first' })),
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/api/admin/setup/status',
      operation: 'getSetupStatus',
      summary: 'Which settings are missing',
      answers: { 200: Type.Object({ missing: Type.Array(Type.String()), ready: Type.Boolean() }) },
      refusals: ['invalid_setup_token'],
      handler: ({ header }) => {
        if (!isToken(header('x-setup-token') ?? '')) throw refusal('invalid_setup_token');
        const variables = missing();
        return Promise.resolve({ status: 200, body: { missing: [...variables], ready: variables.length === 0 }, headers: { 'Cache-Control': 'no-store' } });
      },
    }),
  ];
}
