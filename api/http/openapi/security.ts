import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Route } from '../route.ts';

/** Credentials (spec 1, Authentication). */
export const SECURITY_SCHEMES: JsonObject = {
  session: { type: 'http', scheme: 'bearer', description: 'Token of a session, as sign-in answers it' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sys_session', description: 'The session as a cookie, on the Admin API only; `__Host-sys_session` where cookies are secure' },
  csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: 'Goes with the cookie wherever something is changed; sign-in answers it' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, on the Content API only' },
};

/** Which credentials open a route, each by itself. */
export function securityOf({ access, api, method }: Route): Json {
  if (access.kind === 'public') return [];
  if (api === 'admin') return [{ session: [] }, method === 'GET' ? { cookie: [] } : { cookie: [], csrf: [] }];
  return access.kind === 'session' ? [{ session: [] }] : [{ session: [] }, { apiKey: [] }];
}
