import type { RequestHeaders } from '../../domain/automation/request-headers.ts';
import type { SealedValue } from '../../domain/automation/webhook.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook } from '../ports/webhooks.ts';

/** A webhook with its sealed parts opened. Lives in memory only; never logged. */
export type OpenWebhook = Omit<StoredWebhook, 'url' | 'headers' | 'secret'> & {
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly secret: string | undefined;
};

type Part = 'url' | 'headers' | 'secret';

/** Seals one part of a webhook; it opens for this webhook and this part only. */
export function sealPart(vault: Vault, webhookId: string, part: Part, clear: string): SealedValue {
  return vault.sealSecret(`webhook/${webhookId}/${part}`, clear);
}

export function sealHeaders(vault: Vault, webhookId: string, headers: RequestHeaders): SealedValue | null {
  return Object.keys(headers).length === 0 ? null : sealPart(vault, webhookId, 'headers', JSON.stringify(headers));
}

/** @throws when a part was altered, or sealed under another key */
export function openWebhook(vault: Vault, stored: StoredWebhook): OpenWebhook {
  const open = (part: Part, sealed: SealedValue) => vault.openSecret(`webhook/${stored.id}/${part}`, sealed);
  return {
    ...stored,
    url: open('url', stored.url),
    headers: stored.headers === null ? {} : parseHeaders(open('headers', stored.headers)),
    secret: stored.secret === null ? undefined : open('secret', stored.secret),
  };
}

function parseHeaders(text: string): RequestHeaders {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
}
