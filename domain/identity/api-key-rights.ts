import type { Fold } from '../decider.ts';
import type { ApiKeyEvent } from './api-key-events.ts';

export type ApiKeyRights = {
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** Content types that the key may use; empty means all. */
  readonly schemas: readonly string[];
  /** False after the key was revoked or deleted. */
  readonly enabled: boolean;
  /** RFC 3339; null means never. */
  readonly expires_at: string | null;
};

/** Folds an API key's stream into its rights; undefined before the key was created. */
export const apiKeyRights: Fold<ApiKeyRights | undefined, ApiKeyEvent> = {
  initialState: () => undefined,
  evolve(rights, event) {
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
