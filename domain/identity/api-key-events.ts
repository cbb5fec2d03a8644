import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** Events of an API key, stream `api_key-<tenant>.<key id>`. The key itself is in none of them: `key_hash` is its HMAC under the pepper. */
export type ApiKeyEvent =
  | DomainEvent<'ApiKeyCreated', {
      readonly key_id: string;
      readonly name: string;
      /** First 8 of the key's 40 characters; public. */
      readonly prefix: string;
      readonly key_hash: string;
      readonly scopes: readonly string[];
      readonly roles: readonly string[];
      readonly schemas: readonly string[];
      /** RFC 3339, or null: never. */
      readonly expires_at: string | null;
      /** Requests per UTC calendar month; 0 means no limit. */
      readonly monthly_limit: number;
    }>
  /** A content type that the key names has another name. */
  | DomainEvent<'ApiKeySchemasChanged', { readonly schemas: readonly string[] }>
  | DomainEvent<'ApiKeyMonthlyLimitChanged', { readonly monthly_limit: number }>
  /** The key has another secret; the one before it works until `previous_until` (RFC 3339), null: it works no more. Any earlier one ends here. */
  | DomainEvent<'ApiKeyRotated', { readonly prefix: string; readonly key_hash: string; readonly previous_until: string | null }>
  | DomainEvent<'ApiKeyRevoked', Readonly<Record<string, never>>>
  | DomainEvent<'ApiKeyDeleted', Readonly<Record<string, never>>>;

export const API_KEY_EVENT_TYPES: ReadonlySet<string> = new Set<ApiKeyEvent['type']>([
  'ApiKeyCreated', 'ApiKeyRevoked', 'ApiKeyDeleted', 'ApiKeySchemasChanged', 'ApiKeyMonthlyLimitChanged', 'ApiKeyRotated',
]);

/** Narrows a stored event. @throws TypeError for a type that is no event of a key */
export function parseApiKeyEvent(event: { readonly type: string; readonly data: JsonObject }): ApiKeyEvent {
  if (!API_KEY_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of an API key: ${event.type}`);
  return { type: event.type, data: event.data } as ApiKeyEvent;
}
