import { openWebhook } from '../../../application/automation/sealed-webhook.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { StoredWebhook } from '../../../application/ports/webhooks.ts';
import { REDACTED, redactHeaders } from '../../../domain/automation/request-headers.ts';
import type { JsonObject } from '../../../domain/json.ts';

/** A webhook as the API shows it: never its secret, secret headers redacted; `masked` (no person's session) hides every header value and the URL's path too. */
export function presentWebhook(stored: StoredWebhook, vault: Vault, masked: boolean): JsonObject {
  const { url, headers } = opened(stored, vault);
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

/** Under another `ENCRYPTION_KEY` the list is still readable, so that an admin can mend it. */
function opened(stored: StoredWebhook, vault: Vault): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  try {
    return openWebhook(vault, stored);
  } catch {
    return { url: REDACTED, headers: {} };
  }
}

/** Scheme and host, followed by `/[redacted]` where there is a path or query. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return REDACTED;
  const { origin, pathname, search, hash } = new URL(url);
  return pathname === '/' && search === '' && hash === '' ? url : `${origin}/${REDACTED}`;
}
