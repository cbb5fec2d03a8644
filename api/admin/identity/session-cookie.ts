import { stringifySetCookie } from 'cookie';
import { sessionCookieName } from '../../http/create-api.ts';

/** The session cookie (spec 1, credential kinds; spec 4 A, sign-in details). It ends with the access token that it holds. */
export function sessionCookie({ secure, token, maxAge }: { readonly secure: boolean; readonly token: string; readonly maxAge: number }): string {
  return stringifySetCookie(sessionCookieName(secure), token, { httpOnly: true, sameSite: 'lax', path: '/', secure, maxAge });
}

/** Takes the cookie back. */
export function clearedSessionCookie(secure: boolean): string {
  return sessionCookie({ secure, token: '', maxAge: 0 });
}
