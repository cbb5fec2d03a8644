import { Type } from '@sinclair/typebox';
import type { SignedIn } from '../../../application/identity/complete-sign-in.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import type { Challenged } from '../../../application/identity/sign-in-or-challenge.ts';
import { MFA_METHODS } from '../../../domain/identity/mfa.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import type { RouteResponse } from '../../http/route.ts';
import { MfaMethods, SessionUser } from './schemas.ts';

/** The credentials of a session. Every route that opens a session returns them. */
export const Credentials = Type.Object({
  token: Type.String(),
  csrf_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer({ description: 'Lifetime of the token in seconds' }),
  user: SessionUser,
});

/** The body of the response to a sign-in for an account with a second factor. */
export const Challenge = Type.Object({
  mfa_required: Type.Literal(true),
  challenge_token: Type.String({ description: 'For mfa-verify; valid once, for 5 minutes' }),
  mfa_methods: MfaMethods,
});

/** The response to a sign-in that needs a second factor. It must not be cached. */
export function challengeResponse({ challengeToken, position }: Challenged): RouteResponse {
  return {
    status: 200,
    body: { mfa_required: true, challenge_token: challengeToken, mfa_methods: MFA_METHODS },
    headers: { 'Cache-Control': 'no-store' },
    ...commitAt(position, [IDENTITY]),
  };
}

/** The response that opens a session. `extra` adds members to the credentials. It must not be cached. */
export function credentialsResponse(
  status: number,
  { token, csrfToken, refreshToken, expiresIn, user, position }: SignedIn,
  cookie?: string,
  extra: JsonObject = {},
): RouteResponse {
  return {
    status,
    body: { token, csrf_token: csrfToken, refresh_token: refreshToken, expires_in: expiresIn, user, ...extra },
    headers: { 'Cache-Control': 'no-store', ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) },
    ...commitAt(position, [IDENTITY]),
  };
}
