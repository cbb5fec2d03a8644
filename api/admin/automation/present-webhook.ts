import { decryptWebhook } from '../../../application/automation/decrypt-webhook.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { StoredWebhook } from '../../../application/ports/webhooks.ts';
import { REDACTED, redactHeaders } from '../../../domain/automation/request-headers.ts';
import type { JsonObject } from '../../../domain/json.ts';

/**
 * Presents a webhook in a response, without its secret and the values of secret headers. `masked`, for callers without
 * a session, also hides all header values and the path of the URL.
 */
export function presentWebhook(
  { stored, masked }: { readonly stored: StoredWebhook; readonly masked: boolean },
  { vault }: { readonly vault: Vault },
): JsonObject {
  const { url, headers } = decrypted(stored, vault);
  return {
    id: stored.id,
    name: stored.name,
    url: masked ? maskUrl(url) : url,
    events: stored.events,
    schemas: stored.schemas,
    enabled: stored.enabled,
    has_secret: stored.secret !== null,
    headers: redactHeaders(headers, masked),
    include_fields: stored.include_fields,
    exclude_fields: stored.exclude_fields,
    max_response_size: stored.max_response_size,
    created_at: stored.created_at,
    updated_at: stored.updated_at,
  };
}

/**
 * Decrypts URL and headers. After a change of `ENCRYPTION_KEY` it returns placeholders, so that an admin can repair the
 * list.
 */
function decrypted(
  stored: StoredWebhook,
  vault: Vault,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  try {
    return decryptWebhook(stored, { vault });
  } catch {
    return { url: REDACTED, headers: {} };
  }
}

/** The scheme and host of a URL, followed by `/[redacted]` if it has a path, query or fragment. */
function maskUrl(url: string): string {
  if (!URL.canParse(url)) return REDACTED;
  const { origin, pathname, search, hash } = new URL(url);
  return pathname === '/' && search === '' && hash === '' ? url : `${origin}/${REDACTED}`;
}
