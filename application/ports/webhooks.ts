import type { SealedValue, WebhookSettings } from '../../domain/automation/webhook.ts';

/** A webhook as stored: URL, headers and secret sealed. */
export type StoredWebhook = WebhookSettings & {
  readonly id: string;
  readonly tenant_id: string;
  readonly secret: SealedValue | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string;
  readonly updated_at: string;
};

/** Reads of the webhooks of one tenant, as the read model `automation` has them. */
export type Webhooks = {
  /** Oldest first; all of them without a page. */
  list(tenant: string, page?: { readonly limit: number; readonly offset: number }): Promise<readonly StoredWebhook[]>;
  one(tenant: string, id: string): Promise<StoredWebhook | undefined>;
  count(tenant: string): Promise<number>;
};
