import { Type } from '@sinclair/typebox';
import type { MfaDependencies } from '../../application/identity/account-dependencies.ts';
import type { PasswordSignInDependencies } from '../../application/identity/sign-in-dependencies.ts';
import { signIn } from '../../application/identity/sign-in.ts';
import { verifyChallenge } from '../../application/identity/verify-challenge.ts';
import type { JsonObject } from '../../domain/json.ts';
import {
  Challenge,
  Credentials,
  challengeResponse,
  credentialsResponse,
} from '../admin/identity/credentials-response.ts';
import { ChallengeBody, Email, Password, TenantSlug } from '../admin/identity/schemas.ts';
import { type Route, route } from '../http/route.ts';
import { strict } from '../http/schemas.ts';

const SHARED = { api: 'content', tag: 'identity', access: { kind: 'public' } } as const;

export type AuthRouteDependencies = PasswordSignInDependencies &
  MfaDependencies & { readonly publicKeys?: readonly JsonObject[] };

/**
 * Sign-in of programs, and the public keys that verify the tokens of this service. The Content API sets no cookie.
 * `publicKeys` are published beside the keys of session tokens.
 */
export function authRoutes(dependencies: AuthRouteDependencies): readonly Route[] {
  const { tokens, publicKeys = [] } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/v1/auth/token',
      operation: 'createToken',
      summary: 'Sign in with a password; returns a bearer token, or a challenge for the second factor',
      body: Type.Object(
        {
          email: Email,
          password: Password,
          tenant: Type.Optional(TenantSlug),
        },
        strict,
      ),
      responses: { 200: Type.Union([Credentials, Challenge]) },
      refusals: ['invalid_credentials', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, clientNetwork, context }) => {
        const signedIn = await signIn({ ...body, clientNetwork }, context, dependencies);
        return 'challengeToken' in signedIn ? challengeResponse(signedIn) : credentialsResponse(200, signedIn);
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/v1/auth/mfa-verify',
      operation: 'verifyMfaForToken',
      summary: 'Complete a sign-in with a code of the second factor; returns a bearer token',
      body: ChallengeBody,
      responses: { 200: Credentials },
      refusals: ['invalid_challenge', 'invalid_code', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, context }) =>
        credentialsResponse(
          200,
          await verifyChallenge({ challengeToken: body.challenge_token, code: body.code }, context, dependencies),
        ),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/.well-known/jwks.json',
      operation: 'getJwks',
      summary: 'Public keys that verify session tokens and audit seals',
      responses: { 200: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }) },
      handler: ({ context }) =>
        Promise.resolve({
          status: 200,
          body: { keys: [...tokens.jwks(context.now()).keys, ...publicKeys] },
          headers: { 'Cache-Control': 'public, max-age=300' },
        }),
    }),
  ];
}
