import type { Decider } from '../../domain/decider.ts';
import { parseApiKeyEvent } from '../../domain/identity/api-key-events.ts';
import type { JsonObject } from '../../domain/json.ts';

/** The rights of a key as its events leave them. */
export type ApiKeyRights = {
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  readonly expires_at: string | null;
};

/** Folds a key's stream into its rights; undefined before it was made. */
export const apiKeyHistory: Decider<ApiKeyRights | undefined, { readonly type: string; readonly data: JsonObject }> = {
  initialState: () => undefined,
  evolve(rights, recorded) {
    const event = parseApiKeyEvent(recorded);
    if (event.type === 'ApiKeyCreated') {
      const { roles, scopes, schemas, expires_at } = event.data;
      return { roles, scopes, schemas, enabled: true, expires_at };
    }
    if (!rights) return undefined;
    switch (event.type) {
      case 'ApiKeySchemasChanged':
        return { ...rights, schemas: event.data.schemas };
      case 'ApiKeyMonthlyLimitChanged':
      case 'ApiKeyRotated':
        return rights;
      case 'ApiKeyRevoked':
      case 'ApiKeyDeleted':
        return { ...rights, enabled: false };
    }
  },
};
