import { Type } from '@sinclair/typebox';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { refreshSession } from '../../../application/identity/refresh-session.ts';
import { setUp } from '../../../application/identity/set-up.ts';
import { signIn } from '../../../application/identity/sign-in.ts';
import { signOut } from '../../../application/identity/sign-out.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { addressBlock } from '../../http/address-block.ts';
import { Challenge, Credentials, challengeAnswer, commitAt, credentialsAnswer } from './credentials-answer.ts';
import { clearedSessionCookie, sessionCookie } from './session-cookie.ts';
import { sessionPrincipal } from './session-principal.ts';

const Email = Type.String({ maxLength: 320 });
/** Longer ones are no password of anybody; the policy names the real limit. */
const Password = Type.String({ maxLength: 4096 });
const Token = Type.String({ maxLength: 1024 });

const strict = { additionalProperties: false };

/** Setup, sign-in, refresh, sign-out and `me` of the Admin API (spec 1, sign-in and session). `secureCookie` is `SECURE_COOKIE`. */
export function sessionRoutes(dependencies: IdentityDependencies & { readonly secureCookie: boolean }): readonly Route[] {
  const { reads, vault, secureCookie: secure } = dependencies;
  const cookieOf = ({ token, expiresIn }: { readonly token: string; readonly expiresIn: number }) => sessionCookie({ secure, token, maxAge: expiresIn });

  return [
    route({
      api: 'admin', method: 'GET', path: '/api/admin/setup', operation: 'getSetup', tag: 'identity',
      summary: 'Whether the first account is still to be made',
      access: { kind: 'public' },
      answers: { 200: Type.Object({ setup_required: Type.Boolean() }) },
      handler: async () => ({ status: 200, body: { setup_required: !(await reads.anyUser()) } }),
    }),
    route({
      api: 'admin', method: 'POST', path: '/api/admin/setup', operation: 'setUp', tag: 'identity',
      summary: 'Makes the first super admin and signs them in',
      access: { kind: 'public' },
      rateLimit: 'sign_in',
      body: Type.Object({ email: Email, password: Password, setup_token: Type.Optional(Token) }, strict),
      answers: { 201: Credentials },
      refusals: ['invalid_setup_token', 'setup_complete', 'weak_password'],
      handler: async ({ body: { email, password, setup_token }, header, context }) => {
        const signedIn = await setUp(dependencies, { email, password, setupToken: setup_token ?? header('x-setup-token') }, context);
        return credentialsAnswer(201, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      api: 'admin', method: 'POST', path: '/api/admin/auth/login', operation: 'login', tag: 'identity',
      summary: 'Signs in by password; sets the session cookie, or asks for the second factor',
      access: { kind: 'public' },
      rateLimit: 'sign_in',
      body: Type.Object({ email: Email, password: Password, tenant: Type.Optional(Type.String({ maxLength: 63 })) }, strict),
      answers: { 200: Type.Union([Credentials, Challenge]) },
      refusals: ['invalid_credentials', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, clientAddress, context }) => {
        const signedIn = await signIn(dependencies, { ...body, clientAddress: addressBlock(clientAddress) }, context);
        if ('challengeToken' in signedIn) return challengeAnswer(signedIn);
        return credentialsAnswer(200, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      api: 'admin', method: 'POST', path: '/api/admin/auth/refresh', operation: 'refreshSession', tag: 'identity',
      summary: 'Replaces a refresh token by the next and gives a new session token',
      access: { kind: 'public' },
      rateLimit: 'default',
      body: Type.Object({ refresh_token: Token }, strict),
      answers: { 200: Credentials },
      refusals: ['invalid_refresh_token'],
      handler: async ({ body, context }) => {
        const signedIn = await refreshSession(dependencies, { refreshToken: body.refresh_token }, context);
        return credentialsAnswer(200, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      api: 'admin', method: 'POST', path: '/api/admin/auth/logout', operation: 'logout', tag: 'identity',
      summary: 'Ends the session, its refresh tokens included',
      access: { kind: 'session' },
      body: Type.Object({ refresh_token: Type.Optional(Token) }, strict),
      bodyOptional: true,
      answers: { 204: null },
      handler: async ({ body, principal, context }) => {
        const { userId, sessionId } = sessionPrincipal(principal);
        const position = await signOut(dependencies, { userId, sessionId, refreshToken: body.refresh_token }, context);
        return { status: 204, headers: { 'Set-Cookie': clearedSessionCookie(secure) }, ...commitAt(position) };
      },
    }),
    route({
      api: 'admin', method: 'GET', path: '/api/admin/auth/me', operation: 'getMe', tag: 'identity',
      summary: 'The person signed in',
      access: { kind: 'session' },
      answers: { 200: Type.Object({ id: Type.String({ format: 'uuid' }), email: Type.String(), roles: Type.Array(Type.String()) }) },
      reads: ['identity'],
      handler: async ({ principal }) => {
        const { userId, roles } = sessionPrincipal(principal);
        const user = await reads.userById(userId);
        const email = user && (await vault.openPersonal(userId, user.email));
        if (email === undefined) throw refusal('authentication_required');
        return { status: 200, body: { id: userId, email, roles } };
      },
    }),
  ];
}
