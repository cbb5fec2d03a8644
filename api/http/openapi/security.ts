import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Route } from '../route.ts';

/** Credentials (spec 1, Authentication). */
export const SECURITY_SCHEMES: JsonObject = {
  session: { type: 'http', scheme: 'bearer', description: 'Token of a session, as sign-in answers it' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sys_session', description: 'The session as a cookie, on the Admin API only; `__Host-sys_session` where cookies are secure' },
  csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: 'Goes with the cookie wherever something is changed; sign-in answers it' },
  adminToken: { type: 'http', scheme: 'bearer', description: 'An admin token (`svcat_…`), on the routes of the Admin API that its grants open' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, on the Content API only' },
};

/** Which credentials open a route, each by itself. */
export function securityOf({ access, api, method, grants }: Route): Json {
  if (access.kind === 'public') return [];
  if (api === 'admin') return [{ session: [] }, method === 'GET' ? { cookie: [] } : { cookie: [], csrf: [] }, ...(grants ?? []).map((grant) => ({ adminToken: [grant] }))];
  return access.kind === 'session' ? [{ session: [] }] : [{ session: [] }, { apiKey: [] }];
}
