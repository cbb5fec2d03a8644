import { Type } from '@sinclair/typebox';
import type { IdentityDependencies } from '../../application/identity/dependencies.ts';
import { signIn } from '../../application/identity/sign-in.ts';
import { verifyChallenge } from '../../application/identity/verify-challenge.ts';
import { Challenge, Credentials, challengeAnswer, credentialsAnswer } from '../admin/identity/credentials-answer.ts';
import { ChallengeBody } from '../admin/identity/mfa-routes.ts';
import { addressBlock } from '../http/address-block.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

/**
 * Sign-in for code, and the public keys of session tokens (spec 1, sign-in and session). The Content API sets no cookie.
 * `publicKeys`: further keys that others verify our signatures with.
 */
export function contentAuthRoutes(dependencies: IdentityDependencies & { readonly publicKeys?: readonly JsonObject[] }): readonly Route[] {
  const { tokens, publicKeys = [] } = dependencies;
  return [
    route({
      api: 'content', method: 'POST', path: '/api/v1/auth/token', operation: 'createToken', tag: 'identity',
      summary: 'Signs in by password and answers a bearer token, or asks for the second factor',
      access: { kind: 'public' },
      rateLimit: 'sign_in',
      body: Type.Object(
        { email: Type.String({ maxLength: 320 }), password: Type.String({ maxLength: 4096 }), tenant: Type.Optional(Type.String({ maxLength: 63 })) },
        { additionalProperties: false },
      ),
      answers: { 200: Type.Union([Credentials, Challenge]) },
      refusals: ['invalid_credentials', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, clientAddress, context }) => {
        const signedIn = await signIn(dependencies, { ...body, clientAddress: addressBlock(clientAddress) }, context);
        return 'challengeToken' in signedIn ? challengeAnswer(signedIn) : credentialsAnswer(200, signedIn);
      },
    }),
    route({
      api: 'content', method: 'POST', path: '/api/v1/auth/mfa-verify', operation: 'verifyMfaForToken', tag: 'identity',
      summary: 'Finishes a sign-in by a code of the second factor and answers a bearer token',
      access: { kind: 'public' },
      rateLimit: 'sign_in',
      body: ChallengeBody,
      answers: { 200: Credentials },
      refusals: ['invalid_challenge', 'invalid_code', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, context }) => credentialsAnswer(200, await verifyChallenge(dependencies, { challengeToken: body.challenge_token, code: body.code }, context)),
    }),
    route({
      api: 'content', method: 'GET', path: '/.well-known/jwks.json', operation: 'getJwks', tag: 'identity',
      summary: 'Public keys that session tokens and seals of the audit log verify with',
      access: { kind: 'public' },
      answers: { 200: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }) },
      handler: ({ context }) => Promise.resolve({ status: 200, body: { keys: [...tokens.jwks(context.now()).keys, ...publicKeys] }, headers: { 'Cache-Control': 'public, max-age=300' } }),
    }),
  ];
}
