import { Type } from '@sinclair/typebox';
import type { ReauthenticationDependencies } from '../../../application/identity/account-dependencies.ts';
import { approveDeviceSignIn } from '../../../application/identity/approve-device-sign-in.ts';
import { denyDeviceSignIn } from '../../../application/identity/deny-device-sign-in.ts';
import type { StartDeviceSignInDependencies } from '../../../application/identity/device-sign-in-dependencies.ts';
import { findDeviceSignIn } from '../../../application/identity/find-device-sign-in.ts';
import { pollDeviceSignIn } from '../../../application/identity/poll-device-sign-in.ts';
import type { CompleteSignInDependencies } from '../../../application/identity/sign-in-dependencies.ts';
import { startDeviceSignIn } from '../../../application/identity/start-device-sign-in.ts';
import type { DeviceSignIn } from '../../../application/ports/device-sign-ins.ts';
import { formatUserCode, parseUserCode } from '../../../domain/identity/device-code.ts';
import { type Route, type RouteRequest, type RouteResponse, route } from '../../http/route.ts';
import { Timestamp, oneOf, strict } from '../../http/schemas.ts';
import { Credentials, credentialsResponse } from './credentials-response.ts';
import { Token, confirmation } from './schemas.ts';
import { sessionPrincipal } from './session-principal.ts';
const CodeParams = Type.Object({
  user_code: Type.String({ description: 'The code that the device shows; case, dashes and spaces are ignored' }),
});
const SignInRequest = Type.Object({
  user_code: Type.String(),
  status: oneOf(['pending', 'approved', 'denied']),
  created_at: Timestamp,
  expires_at: Timestamp,
});

type CodeRequest = RouteRequest<{ readonly user_code: string }, unknown, unknown>;

export type DeviceRouteDependencies = StartDeviceSignInDependencies &
  CompleteSignInDependencies &
  ReauthenticationDependencies;

const SHARED = {
  api: 'admin',
  tag: 'identity',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
  params: CodeParams,
  notFound: 'device_sign_in_not_found',
  limit: { perSecond: 2, burst: 20 },
} as const;
const PUBLIC = { api: 'admin', method: 'POST', tag: 'identity', access: { kind: 'public' } } as const;

/** Sign-in of tools without a browser: the tool shows a code, and an admin approves it in the console. */
export function deviceRoutes(dependencies: DeviceRouteDependencies): readonly Route[] {
  function find({ params, principal, context }: CodeRequest): Promise<DeviceSignIn> {
    return findDeviceSignIn(
      { userCode: params.user_code, userId: sessionPrincipal(principal).userId },
      context,
      dependencies,
    );
  }

  return [
    route({
      ...PUBLIC,
      path: '/api/admin/auth/device',
      operation: 'startDeviceSignIn',
      summary: 'Start the sign-in of a device. An admin approves it by its user code',
      responses: {
        200: Type.Object({
          device_code: Type.String(),
          user_code: Type.String(),
          verification_uri: Type.String(),
          verification_uri_complete: Type.String(),
          expires_in: Type.Integer({ description: 'Lifetime of the codes in seconds' }),
          interval: Type.Integer({ description: 'Minimum time between two polls in seconds' }),
        }),
      },
      refusals: ['rate_limited', 'device_not_configured'],
      limit: { perSecond: 1, burst: 10 },
      handler: async ({ clientNetwork, context }) => {
        const start = await startDeviceSignIn({ clientNetwork }, context, dependencies);
        return {
          status: 200,
          body: {
            device_code: start.deviceCode,
            user_code: start.userCode,
            verification_uri: start.verificationUri,
            verification_uri_complete: start.verificationUriComplete,
            expires_in: start.expiresIn,
            interval: start.interval,
          },
          headers: { 'Cache-Control': 'no-store' },
        };
      },
    }),
    route({
      ...PUBLIC,
      path: '/api/admin/auth/device/token',
      operation: 'pollDeviceSignIn',
      summary: 'Poll the sign-in of a device. Answers a session once after it was approved',
      body: Type.Object({ device_code: Token }, strict),
      responses: { 200: Credentials },
      refusals: [
        'authorization_pending',
        'slow_down',
        'expired_token',
        'access_denied',
        'tenant_disabled',
        'rate_limited',
      ],
      limit: { perSecond: 5, burst: 20 },
      handler: async ({ body, context }) =>
        credentialsResponse(200, await pollDeviceSignIn({ deviceCode: body.device_code }, context, dependencies)),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/auth/device/{user_code}',
      operation: 'getDeviceSignIn',
      summary: 'Get the pending sign-in of a device',
      responses: { 200: SignInRequest },
      refusals: ['device_sign_in_not_found', 'rate_limited'],
      handler: async (request) => present(request.params, await find(request)),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/device/{user_code}/approve',
      operation: 'approveDeviceSignIn',
      summary:
        'Approve the sign-in of a device as the caller, who confirms with a password or a code of the second factor',
      body: Type.Object(confirmation, strict),
      bodyOptional: true,
      responses: { 200: SignInRequest },
      refusals: [
        'device_sign_in_not_found',
        'device_sign_in_decided',
        'confirmation_required',
        'invalid_password',
        'invalid_code',
        'rate_limited',
      ],
      precheck: find,
      handler: async ({ params, body, principal, context }) => {
        const { userId, tenant } = sessionPrincipal(principal);
        return present(
          params,
          await approveDeviceSignIn(
            {
              userCode: params.user_code,
              tenant,
              reauthentication: { userId, password: body.password, mfaCode: body.mfa_code },
            },
            context,
            dependencies,
          ),
        );
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/device/{user_code}/deny',
      operation: 'denyDeviceSignIn',
      summary: 'Deny the sign-in of a device',
      responses: { 200: SignInRequest },
      refusals: ['device_sign_in_not_found', 'device_sign_in_decided', 'rate_limited'],
      precheck: find,
      handler: async ({ params, context }) =>
        present(params, await denyDeviceSignIn({ userCode: params.user_code }, context, dependencies)),
    }),
  ];
}

function present(
  { user_code: typed }: CodeRequest['params'],
  { status, createdAt, expiresAt }: DeviceSignIn,
): RouteResponse {
  return {
    status: 200,
    body: {
      user_code: formatUserCode(parseUserCode(typed) ?? ''),
      status,
      created_at: createdAt.toISOString(),
      expires_at: expiresAt.toISOString(),
    },
  };
}
