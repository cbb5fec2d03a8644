import type { Route } from '../../api/http/route.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { Content } from './content.ts';
import { type Served, serve } from './serve-routes.ts';

type ApiKey = Extract<Principal, { kind: 'api_key' }>;

/** An API key of the tenant `default` with the role `editor` and every scope; `given` replaces parts of it. */
export function apiKey(given: Partial<ApiKey> = {}): ApiKey {
  return {
    kind: 'api_key',
    keyId: 'k1',
    tenant: 'default',
    roles: ['editor'],
    scopes: ['*:*'],
    schemas: [],
    monthlyLimit: 0,
    ...given,
  };
}

/** A signed-in session of a user with these roles; the user id is made from the roles, such as `user-editor`. */
export function userSession(roles: readonly string[], tenant = 'default'): Principal {
  return {
    kind: 'session',
    userId: `user-${roles.join('-')}`,
    sessionId: 's1',
    tenant,
    roles,
    via: 'bearer',
    csrfToken: 'c',
  };
}

/** An entry in a response of either API. */
export type EntryAnswer = {
  readonly id: string;
  readonly version: number;
  readonly status?: string;
  readonly data: Readonly<Record<string, unknown>>;
} & Readonly<Record<string, unknown>>;

export type ServedContentOptions = {
  readonly content: Content;
  /** Called once `content` has started. */
  readonly routes: () => readonly Route[];
  /** Callers by the bearer token or API key that they send. */
  readonly principals: Readonly<Record<string, Principal>>;
};

/**
 * Serves routes over HTTP around the tests of the enclosing `describe`. A response to a write waits until the content
 * that has been appended is projected. @returns the listeners, inside hooks and tests only
 */
export function useServedContent({ content, routes, principals }: ServedContentOptions): () => Served {
  let served: Served | undefined;
  before(async () => {
    served = await serve(
      routes(),
      {},
      {
        authenticate: ({ bearer, apiKey: key }) => principals[bearer ?? key ?? ''],
        checkKeyScope: () => undefined,
        progress: { waitFor: () => content.project().then(() => true) },
      },
    );
  });
  after(() => Promise.all([served?.admin.close({ deadlineMs: 500 }), served?.content.close({ deadlineMs: 500 })]));
  return () => {
    if (!served) throw new Error('available inside hooks and tests only');
    return served;
  };
}
