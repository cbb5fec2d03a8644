import { Type } from '@sinclair/typebox';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { approveDeviceSignIn, denyDeviceSignIn, findDeviceSignIn } from '../../../application/identity/device-decide.ts';
import { pollDeviceSignIn } from '../../../application/identity/device-poll.ts';
import { startDeviceSignIn } from '../../../application/identity/device-start.ts';
import type { DeviceSignIn } from '../../../application/ports/device-sign-ins.ts';
import { parseUserCode, showUserCode } from '../../../domain/identity/device-code.ts';
import type { Answer, Route, RouteRequest } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { Credentials, credentialsAnswer } from './credentials-answer.ts';
import { sessionPrincipal } from './session-principal.ts';

const strict = { additionalProperties: false };
const Time = Type.String({ format: 'date-time' });
const Code = Type.Object({ user_code: Type.String({ description: 'as the device shows it; case, dashes and spaces do not matter' }) });
const Shown = Type.Object({
  user_code: Type.String(), status: Type.Union([Type.Literal('pending'), Type.Literal('approved'), Type.Literal('denied')]), created_at: Time, expires_at: Time,
});

type CodeRequest = RouteRequest<{ readonly user_code: string }, unknown, unknown>;

/** Sign-in of tools without a browser: the tool shows a code, an admin approves it in the console (spec 1, device sign-in; spec 4 A). */
export function deviceRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const anyone = { api: 'admin', method: 'POST', tag: 'identity', access: { kind: 'public' } } as const;
  const admins = {
    api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['admin', 'super_admin'] },
    params: Code, notFound: 'device_sign_in_not_found', limit: { perSecond: 2, burst: 20 },
  } as const;

  function find({ params, principal, context }: CodeRequest): Promise<DeviceSignIn> {
    return findDeviceSignIn(dependencies, { userCode: params.user_code, userId: sessionPrincipal(principal).userId }, context);
  }

  /** An unknown code wins over a bad body (spec 4 A, order of refusals). */
  async function existing(request: CodeRequest): Promise<void> {
    await find(request);
  }

  return [
    route({
      ...anyone, path: '/api/admin/auth/device', operation: 'startDeviceSignIn', summary: 'Begins the sign-in of a device; an admin approves it by its user code',
      limit: { perSecond: 1, burst: 10 },
      answers: {
        200: Type.Object({
          device_code: Type.String(), user_code: Type.String(), verification_uri: Type.String(), verification_uri_complete: Type.String(),
          expires_in: Type.Integer({ description: 'seconds' }), interval: Type.Integer({ description: 'seconds between two polls' }),
        }),
      },
      refusals: ['rate_limited', 'device_not_configured'],
      handler: async ({ clientAddress, context }) => {
        const start = await startDeviceSignIn(dependencies, { clientAddress }, context);
        return {
          status: 200,
          body: {
            device_code: start.deviceCode, user_code: start.userCode, verification_uri: start.verificationUri, verification_uri_complete: start.verificationUriComplete,
            expires_in: start.expiresIn, interval: start.interval,
          },
          headers: { 'Cache-Control': 'no-store' },
        };
      },
    }),
    route({
      ...anyone, path: '/api/admin/auth/device/token', operation: 'pollDeviceSignIn', summary: 'Asks whether the device was approved; once it was, answers a session, one time',
      limit: { perSecond: 5, burst: 20 },
      body: Type.Object({ device_code: Type.String({ maxLength: 1024 }) }, strict),
      answers: { 200: Credentials }, refusals: ['authorization_pending', 'slow_down', 'expired_token', 'access_denied', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, context }) => credentialsAnswer(200, await pollDeviceSignIn(dependencies, { deviceCode: body.device_code }, context)),
    }),
    route({
      ...admins, method: 'GET', path: '/api/admin/auth/device/{user_code}', operation: 'getDeviceSignIn', summary: 'The sign-in that a device waits for',
      answers: { 200: Shown }, refusals: ['device_sign_in_not_found', 'rate_limited'],
      handler: async (request) => present(request.params, await find(request)),
    }),
    route({
      ...admins, method: 'POST', path: '/api/admin/auth/device/{user_code}/approve', operation: 'approveDeviceSignIn', summary: 'Lets the device in as the caller, who shows password or code once more',
      precheck: existing,
      body: Type.Object({ password: Type.Optional(Type.String({ maxLength: 4096 })), mfa_code: Type.Optional(Type.String({ maxLength: 64 })) }, strict), bodyOptional: true,
      answers: { 200: Shown }, refusals: ['device_sign_in_not_found', 'device_sign_in_decided', 'confirmation_required', 'invalid_password', 'invalid_code', 'rate_limited'],
      handler: async ({ params, body, principal, context }) => {
        const { userId, tenant } = sessionPrincipal(principal);
        return present(params, await approveDeviceSignIn(dependencies, { userCode: params.user_code, by: { userId, tenant }, password: body.password, mfaCode: body.mfa_code }, context));
      },
    }),
    route({
      ...admins, method: 'POST', path: '/api/admin/auth/device/{user_code}/deny', operation: 'denyDeviceSignIn', summary: 'Turns the device away',
      precheck: existing,
      answers: { 200: Shown }, refusals: ['device_sign_in_not_found', 'device_sign_in_decided', 'rate_limited'],
      handler: async ({ params, context }) => present(params, await denyDeviceSignIn(dependencies, { userCode: params.user_code }, context)),
    }),
  ];
}

function present({ user_code: typed }: CodeRequest['params'], { status, createdAt, expiresAt }: DeviceSignIn): Answer {
  return { status: 200, body: { user_code: showUserCode(parseUserCode(typed) ?? ''), status, created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() } };
}
