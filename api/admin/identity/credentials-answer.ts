import { Type } from '@sinclair/typebox';
import type { Answer } from '../../http/route.ts';
import type { Challenged, SignedIn } from '../../../application/identity/complete-sign-in.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { MFA_METHODS } from '../../../domain/identity/mfa.ts';
import { IDENTITY } from '../../../application/identity/dependencies.ts';

/** The five fields of session credentials (spec 1); every route that opens a session answers them. */
export const Credentials = Type.Object({
  token: Type.String(),
  csrf_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer({ description: 'seconds' }),
  user: Type.Object({ id: Type.String({ format: 'uuid' }), email: Type.String(), roles: Type.Array(Type.String()) }),
});

/** What a sign-in answers where the account has a second factor (spec 4 A, sign-in details). */
export const Challenge = Type.Object({
  mfa_required: Type.Literal(true),
  challenge_token: Type.String({ description: 'for mfa-verify: good for 5 minutes, once' }),
  mfa_methods: Type.Array(Type.Union(MFA_METHODS.map((method) => Type.Literal(method)))),
});

/** Answers a sign-in that waits for its second factor; never to be cached. */
export function challengeAnswer({ challengeToken, position }: Challenged): Answer {
  return { status: 200, body: { mfa_required: true, challenge_token: challengeToken, mfa_methods: MFA_METHODS }, headers: { 'Cache-Control': 'no-store' }, ...commitAt(position) };
}

/** Answers an opened session, with `extra` beside the five fields; never to be cached. */
export function credentialsAnswer(status: number, { token, csrfToken, refreshToken, expiresIn, user, position }: SignedIn, cookie?: string, extra: JsonObject = {}): Answer {
  return {
    status,
    body: { token, csrf_token: csrfToken, refresh_token: refreshToken, expires_in: expiresIn, user, ...extra },
    headers: { 'Cache-Control': 'no-store', ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) },
    ...commitAt(position),
  };
}

/** The part of an answer that waits for the identity read model. */
export function commitAt(position: SignedIn['position']): Pick<Answer, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels: [IDENTITY] } };
}
