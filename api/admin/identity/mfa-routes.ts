import { Type } from '@sinclair/typebox';
import type { ReauthenticationDependencies } from '../../../application/identity/account-dependencies.ts';
import { disableMfa } from '../../../application/identity/disable-mfa.ts';
import { enableMfa } from '../../../application/identity/enable-mfa.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { setUpMfa } from '../../../application/identity/set-up-mfa.ts';
import type { SignInDependencies } from '../../../application/identity/sign-in-dependencies.ts';
import { verifyChallenge } from '../../../application/identity/verify-challenge.ts';
import { refusal } from '../../../domain/errors.ts';
import { MFA_METHODS, RECOVERY_CODES } from '../../../domain/identity/mfa.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { strict } from '../../http/schemas.ts';
import { Credentials, credentialsResponse } from './credentials-response.ts';
import { ChallengeBody, MfaCode, MfaMethods, Password } from './schemas.ts';
import { sessionCookie } from './session-cookie.ts';
import { sessionPrincipal } from './session-principal.ts';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session' } } as const;
const PUBLIC = { ...SHARED, access: { kind: 'public' } } as const;

export type MfaRouteDependencies = SignInDependencies &
  ReauthenticationDependencies & { readonly secureCookie: boolean };

/**
 * The second factor of the signed-in user, and the second step of a sign-in. `secureCookie` is the setting
 * `SECURE_COOKIE`.
 */
export function mfaRoutes(dependencies: MfaRouteDependencies): readonly Route[] {
  const { reads, secureCookie: secure } = dependencies;
  return [
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/auth/mfa-verify',
      operation: 'verifyMfa',
      summary: 'Complete a sign-in with a code of the second factor. Sets the session cookie',
      body: ChallengeBody,
      responses: { 200: Credentials },
      refusals: ['invalid_challenge', 'invalid_code', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, context }) => {
        const signedIn = await verifyChallenge(
          { challengeToken: body.challenge_token, code: body.code },
          context,
          dependencies,
        );
        return credentialsResponse(
          200,
          signedIn,
          sessionCookie({ secure, token: signedIn.token, maxAge: signedIn.expiresIn }),
        );
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/auth/mfa',
      operation: 'getMfa',
      summary: 'Get the second factor of the signed-in user',
      responses: {
        200: Type.Object({ enabled: Type.Boolean(), methods: MfaMethods, recovery_codes_left: Type.Integer() }),
      },
      reads: [IDENTITY],
      handler: async ({ principal }) => {
        const user = await reads.userById(sessionPrincipal(principal).userId);
        if (!user) throw refusal('authentication_required');
        return {
          status: 200,
          body: {
            enabled: user.mfa !== null,
            methods: user.mfa ? MFA_METHODS : [],
            recovery_codes_left: user.mfa?.recoveryCodes.length ?? 0,
          },
        };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/mfa/setup',
      operation: 'setUpMfa',
      summary: 'Create the secret of an authenticator. Its first code enables it, within 15 minutes',
      body: Type.Object({ password: Password }, strict),
      responses: { 200: Type.Object({ secret: Type.String({ description: 'Base32' }), otpauth_url: Type.String() }) },
      refusals: ['invalid_password', 'mfa_enabled', 'rate_limited'],
      handler: async ({ body, principal, context }) => {
        const { secret, otpauthUrl } = await setUpMfa(
          { userId: sessionPrincipal(principal).userId, password: body.password },
          context,
          dependencies,
        );
        return { status: 200, body: { secret, otpauth_url: otpauthUrl } };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/mfa/enable',
      operation: 'enableMfa',
      summary: 'Enable the authenticator that was set up. Only this response contains the recovery codes',
      body: Type.Object({ code: MfaCode }, strict),
      responses: {
        200: Type.Object({
          recovery_codes: Type.Array(Type.String(), { minItems: RECOVERY_CODES, maxItems: RECOVERY_CODES }),
        }),
      },
      refusals: ['invalid_code', 'mfa_enabled', 'mfa_not_set_up', 'rate_limited'],
      handler: async ({ body, principal, context }) => {
        const { recoveryCodes, position } = await enableMfa(
          { userId: sessionPrincipal(principal).userId, code: body.code },
          context,
          dependencies,
        );
        return { status: 200, body: { recovery_codes: recoveryCodes }, ...commitAt(position, [IDENTITY]) };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/mfa/disable',
      operation: 'disableMfa',
      summary: 'Disable the second factor. Needs both factors',
      body: Type.Object({ password: Password, code: MfaCode }, strict),
      responses: { 204: null },
      refusals: ['invalid_password', 'invalid_code', 'mfa_not_enabled', 'rate_limited'],
      handler: async ({ body, principal, context }) => ({
        status: 204,
        ...commitAt(await disableMfa({ userId: sessionPrincipal(principal).userId, ...body }, context, dependencies), [
          IDENTITY,
        ]),
      }),
    }),
  ];
}
