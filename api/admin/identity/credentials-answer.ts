import { Type } from '@sinclair/typebox';
import type { Answer } from '../../http/route.ts';
import type { SignedIn } from '../../../application/identity/sign-in.ts';
import { IDENTITY } from '../../../application/identity/dependencies.ts';

/** The five fields of session credentials (spec 1); every route that opens a session answers them. */
export const Credentials = Type.Object({
  token: Type.String(),
  csrf_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer({ description: 'seconds' }),
  user: Type.Object({ id: Type.String({ format: 'uuid' }), email: Type.String(), roles: Type.Array(Type.String()) }),
});

/** Answers an opened session; never to be cached. */
export function credentialsAnswer(status: number, { token, csrfToken, refreshToken, expiresIn, user, position }: SignedIn, cookie?: string): Answer {
  return {
    status,
    body: { token, csrf_token: csrfToken, refresh_token: refreshToken, expires_in: expiresIn, user },
    headers: { 'Cache-Control': 'no-store', ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }) },
    ...commitAt(position),
  };
}

/** The part of an answer that waits for the identity read model. */
export function commitAt(position: SignedIn['position']): Pick<Answer, 'commit'> {
  return position === undefined ? {} : { commit: { position, readModels: [IDENTITY] } };
}
