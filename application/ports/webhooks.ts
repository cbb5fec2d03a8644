import type { WebhookSettings } from '../../domain/automation/webhook-events.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';

/** A webhook in the read model; URL, headers and secret are sealed. */
export type StoredWebhook = WebhookSettings & {
  readonly id: string;
  readonly tenant_id: string;
  readonly secret: SealedValue | null;
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string;
  readonly updated_at: string;
};

/** Queries of the webhooks of one tenant in the read model `automation`. */
export type Webhooks = {
  /** Webhooks, oldest first; without `page` all of them. */
  list(tenant: string, page?: { readonly limit: number; readonly offset: number }): Promise<readonly StoredWebhook[]>;
  one(tenant: string, id: string): Promise<StoredWebhook | undefined>;
  count(tenant: string): Promise<number>;
};
