import { Type } from '@sinclair/typebox';
import {
  type CreateFirstAccountDependencies,
  createFirstAccount,
} from '../../../application/identity/create-first-account.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { refreshSession } from '../../../application/identity/refresh-session.ts';
import type { PasswordSignInDependencies } from '../../../application/identity/sign-in-dependencies.ts';
import { signIn } from '../../../application/identity/sign-in.ts';
import { signOut } from '../../../application/identity/sign-out.ts';
import { refusal } from '../../../domain/errors.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { strict } from '../../http/schemas.ts';
import { Challenge, Credentials, challengeResponse, credentialsResponse } from './credentials-response.ts';
import { Email, Password, SessionUser, TenantSlug, Token } from './schemas.ts';
import { clearedSessionCookie, sessionCookie } from './session-cookie.ts';
import { sessionPrincipal } from './session-principal.ts';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session' } } as const;
const PUBLIC = { ...SHARED, access: { kind: 'public' } } as const;

export type SessionRouteDependencies = CreateFirstAccountDependencies &
  PasswordSignInDependencies & { readonly secureCookie: boolean };

/** Setup, sign-in, refresh, sign-out and `me` on the Admin API. `secureCookie` is the setting `SECURE_COOKIE`. */
export function sessionRoutes(dependencies: SessionRouteDependencies): readonly Route[] {
  const { reads, vault, secureCookie: secure } = dependencies;
  const cookieOf = ({ token, expiresIn }: { readonly token: string; readonly expiresIn: number }) =>
    sessionCookie({ secure, token, maxAge: expiresIn });

  return [
    route({
      ...PUBLIC,
      method: 'GET',
      path: '/api/admin/setup',
      operation: 'getSetup',
      summary: 'Tell whether the first account still has to be created',
      responses: { 200: Type.Object({ setup_required: Type.Boolean() }) },
      handler: async () => ({ status: 200, body: { setup_required: !(await reads.anyUser()) } }),
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/setup',
      operation: 'setUp',
      summary: 'Create the first super admin and sign in',
      body: Type.Object({ email: Email, password: Password, setup_token: Type.Optional(Token) }, strict),
      responses: { 201: Credentials },
      refusals: ['invalid_setup_token', 'setup_complete', 'weak_password'],
      handler: async ({ body: { email, password, setup_token }, header, context }) => {
        const signedIn = await createFirstAccount(
          { email, password, setupToken: setup_token ?? header('x-setup-token') },
          context,
          dependencies,
        );
        return credentialsResponse(201, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/auth/login',
      operation: 'login',
      summary: 'Sign in with a password. Sets the session cookie, or asks for the second factor',
      body: Type.Object({ email: Email, password: Password, tenant: Type.Optional(TenantSlug) }, strict),
      responses: { 200: Type.Union([Credentials, Challenge]) },
      refusals: ['invalid_credentials', 'tenant_disabled', 'rate_limited'],
      handler: async ({ body, clientNetwork, context }) => {
        const signedIn = await signIn({ ...body, clientNetwork }, context, dependencies);
        if ('challengeToken' in signedIn) return challengeResponse(signedIn);
        return credentialsResponse(200, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      ...PUBLIC,
      method: 'POST',
      path: '/api/admin/auth/refresh',
      operation: 'refreshSession',
      summary: 'Exchange a refresh token for a new session token and a new refresh token',
      body: Type.Object({ refresh_token: Token }, strict),
      responses: { 200: Credentials },
      refusals: ['invalid_refresh_token'],
      handler: async ({ body, context }) => {
        const signedIn = await refreshSession({ refreshToken: body.refresh_token }, context, dependencies);
        return credentialsResponse(200, signedIn, cookieOf(signedIn));
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/auth/logout',
      operation: 'logout',
      summary: 'Sign out. Ends the session and its refresh tokens',
      body: Type.Object({ refresh_token: Type.Optional(Token) }, strict),
      bodyOptional: true,
      responses: { 204: null },
      handler: async ({ body, principal, context }) => {
        const { userId, sessionId } = sessionPrincipal(principal);
        const position = await signOut({ userId, sessionId, refreshToken: body.refresh_token }, context, dependencies);
        return {
          status: 204,
          headers: { 'Set-Cookie': clearedSessionCookie(secure) },
          ...commitAt(position, [IDENTITY]),
        };
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/auth/me',
      operation: 'getMe',
      summary: 'Get the signed-in user',
      responses: { 200: SessionUser },
      reads: [IDENTITY],
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
