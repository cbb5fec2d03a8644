import type { RequestHeaders } from '../../domain/automation/request-headers.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook } from '../ports/webhooks.ts';

/** A webhook whose URL, headers and secret are in plain text. It is kept in memory only and never logged. */
export type DecryptedWebhook = Omit<StoredWebhook, 'url' | 'headers' | 'secret'> & {
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly secret: string | undefined;
};

type SealedPart = 'url' | 'headers' | 'secret';
type Sealing = { readonly vault: Pick<Vault, 'sealSecret'> };

/** Seals one part of a webhook. The sealed value can be opened for this webhook and this part only. */
export function sealWebhookPart(
  { webhookId, part, plainText }: { readonly webhookId: string; readonly part: SealedPart; readonly plainText: string },
  { vault }: Sealing,
): SealedValue {
  return vault.sealSecret(purposeOf(webhookId, part), plainText);
}

/** Seals the extra request headers of a webhook. @returns null when it has none */
export function sealWebhookHeaders(
  { webhookId, headers }: { readonly webhookId: string; readonly headers: RequestHeaders },
  { vault }: Sealing,
): SealedValue | null {
  if (Object.keys(headers).length === 0) return null;
  return sealWebhookPart({ webhookId, part: 'headers', plainText: JSON.stringify(headers) }, { vault });
}

/** Opens the sealed parts of a webhook. @throws Error when a part was altered or sealed under another key */
export function decryptWebhook(
  stored: StoredWebhook,
  { vault }: { readonly vault: Pick<Vault, 'openSecret'> },
): DecryptedWebhook {
  const open = (part: SealedPart, sealed: SealedValue) => vault.openSecret(purposeOf(stored.id, part), sealed);
  return {
    ...stored,
    url: open('url', stored.url),
    headers: stored.headers === null ? {} : parseHeaders(open('headers', stored.headers)),
    secret: stored.secret === null ? undefined : open('secret', stored.secret),
  };
}

function purposeOf(webhookId: string, part: SealedPart): string {
  return `webhook/${webhookId}/${part}`;
}

function parseHeaders(text: string): RequestHeaders {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
}
