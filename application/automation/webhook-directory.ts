import type { Logger } from '../ports/logger.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook, Webhooks } from '../ports/webhooks.ts';
import { type DecryptedWebhook, decryptWebhook } from './decrypt-webhook.ts';

/** A webhook whose sealed parts cannot be opened with the current `ENCRYPTION_KEY`. Its deliveries are postponed. */
export type UnreadableWebhook = Pick<
  DecryptedWebhook,
  'id' | 'name' | 'enabled' | 'events' | 'schemas' | 'include_fields' | 'exclude_fields'
> & { readonly unreadable: true };
export type KnownWebhook = (DecryptedWebhook & { readonly unreadable?: never }) | UnreadableWebhook;

/** Cache of the tenants' webhooks with their sealed parts opened. */
export type WebhookDirectory = {
  /** The tenant's webhooks by id, including disabled ones. */
  of(tenant: string): Promise<ReadonlyMap<string, KnownWebhook>>;
  close(): void;
};

export type WebhookDirectoryDependencies = {
  readonly webhooks: Pick<Webhooks, 'list'>;
  readonly vault: Vault;
  /**
   * Calls the listener after each batch that the read model `automation` applied.
   * @returns a function that unsubscribes
   */
  readonly onApplied: (listener: () => void) => () => void;
  readonly now: () => Date;
  readonly logger: Logger;
  /** How long a list is cached, in milliseconds, when no notification arrives. Default: 5,000. */
  readonly maxAgeMs?: number;
};

/**
 * Caches one list per tenant until the read model applies events. A list that is still being read then is returned to
 * its caller and not cached.
 */
export function openWebhookDirectory({
  webhooks,
  vault,
  onApplied,
  now,
  logger,
  maxAgeMs = 5_000,
}: WebhookDirectoryDependencies): WebhookDirectory {
  const cache = new Map<
    string,
    { readonly list: Promise<ReadonlyMap<string, KnownWebhook>>; readonly until: number }
  >();
  const stop = onApplied(() => {
    cache.clear();
  });

  async function load(tenant: string): Promise<ReadonlyMap<string, KnownWebhook>> {
    const rows = await webhooks.list(tenant);
    return new Map(rows.map((row) => [row.id, open(row)]));
  }

  function open(row: StoredWebhook): KnownWebhook {
    try {
      return decryptWebhook(row, { vault });
    } catch {
      logger.error('a webhook cannot be opened with the current ENCRYPTION_KEY; its deliveries are postponed', {
        webhook_id: row.id,
      });
      return { ...row, unreadable: true };
    }
  }

  return {
    of(tenant) {
      const time = now().getTime();
      const cached = cache.get(tenant);
      if (cached && cached.until > time) return cached.list;
      const list = load(tenant);
      const entry = { list, until: time + maxAgeMs };
      cache.set(tenant, entry);
      list.catch(() => {
        if (cache.get(tenant) === entry) cache.delete(tenant);
      });
      return list;
    },
    close: stop,
  };
}
