import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';

/**
 * Events of an API key, stream `api_key-<tenant>.<key id>`. The secret is in no event; `key_hash` is its HMAC under the
 * pepper.
 */
export type ApiKeyEvent =
  | DomainEvent<
      'ApiKeyCreated',
      {
        readonly key_id: string;
        readonly name: string;
        /** The first 8 of the secret's 40 characters; public. */
        readonly prefix: string;
        readonly key_hash: string;
        readonly scopes: readonly string[];
        readonly roles: readonly string[];
        readonly schemas: readonly string[];
        /** RFC 3339; null means never. */
        readonly expires_at: string | null;
        /** Requests per UTC calendar month; 0 means no limit. */
        readonly monthly_limit: number;
      }
    >
  /** A content type in the key's list was renamed. */
  | DomainEvent<'ApiKeySchemasChanged', { readonly schemas: readonly string[] }>
  | DomainEvent<'ApiKeyMonthlyLimitChanged', { readonly monthly_limit: number }>
  /**
   * A new secret replaces the current one. The replaced secret works until `previous_until` (RFC 3339); null ends it at
   * once. Secrets from earlier rotations stop working.
   */
  | DomainEvent<
      'ApiKeyRotated',
      { readonly prefix: string; readonly key_hash: string; readonly previous_until: string | null }
    >
  | DomainEvent<'ApiKeyRevoked', Readonly<Record<string, never>>>
  | DomainEvent<'ApiKeyDeleted', Readonly<Record<string, never>>>;

export const apiKeyEvents = eventParser<ApiKeyEvent>('API key', [
  'ApiKeyCreated',
  'ApiKeySchemasChanged',
  'ApiKeyMonthlyLimitChanged',
  'ApiKeyRotated',
  'ApiKeyRevoked',
  'ApiKeyDeleted',
]);
