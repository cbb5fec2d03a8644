import type { Json, JsonObject } from '../../../domain/json.ts';
import type { Route } from '../route.ts';

/** The kinds of credentials. */
export const SECURITY_SCHEMES: JsonObject = {
  session: { type: 'http', scheme: 'bearer', description: 'The token of a session, from sign-in' },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'sys_session',
    description:
      'The session as a cookie, on the Admin API only. Its name is `__Host-sys_session` when cookies are secure',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The CSRF token, from sign-in. Required with the cookie for requests that change data',
  },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An admin token (`svcat_…`), on the routes of the Admin API that its grants allow',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, on the Content API only' },
};

/** The credentials that a route accepts, as alternatives. */
export function securityOf({ access, api, method, grants }: Route): Json {
  if (access.kind === 'public') return [];
  if (api === 'admin')
    return [
      { session: [] },
      method === 'GET' ? { cookie: [] } : { cookie: [], csrf: [] },
      ...(grants ?? []).map((grant) => ({ adminToken: [grant] })),
    ];
  return access.kind === 'session' ? [{ session: [] }] : [{ session: [] }, { apiKey: [] }];
}
