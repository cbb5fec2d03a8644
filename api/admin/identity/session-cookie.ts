import { stringifySetCookie } from 'cookie';
import { sessionCookieName } from '../../http/create-api.ts';

/** The `Set-Cookie` value of a session. The cookie expires with its access token; `maxAge` is in seconds. */
export function sessionCookie({
  secure,
  token,
  maxAge,
}: {
  readonly secure: boolean;
  readonly token: string;
  readonly maxAge: number;
}): string {
  return stringifySetCookie(sessionCookieName(secure), token, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    maxAge,
  });
}

/** The `Set-Cookie` value that deletes the session cookie. */
export function clearedSessionCookie(secure: boolean): string {
  return sessionCookie({ secure, token: '', maxAge: 0 });
}
