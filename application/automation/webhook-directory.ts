import type { Logger } from '../ports/logger.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook, Webhooks } from '../ports/webhooks.ts';
import type { OpenWebhook } from './sealed-webhook.ts';
import { openWebhook } from './sealed-webhook.ts';

/** A webhook whose sealed parts could not be opened: a fault of ours, its deliveries wait. */
export type UnreadableWebhook = Pick<OpenWebhook, 'id' | 'name' | 'enabled' | 'events' | 'schemas' | 'include_fields' | 'exclude_fields'> & { readonly unreadable: true };
export type KnownWebhook = (OpenWebhook & { readonly unreadable?: never }) | UnreadableWebhook;

/** The webhooks of a tenant as of now, opened and cached. */
export type WebhookDirectory = {
  /** By id, disabled ones included. */
  of(tenant: string): Promise<ReadonlyMap<string, KnownWebhook>>;
  close(): void;
};

export type WebhookDirectoryDependencies = {
  readonly webhooks: Pick<Webhooks, 'list'>;
  readonly vault: Vault;
  /** Calls back after every move of the read model `automation`. @returns how to stop it */
  readonly onMove: (listener: () => void) => () => void;
  readonly now: () => Date;
  readonly logger: Logger;
  /** Upper bound of staleness where no move is heard of. Default 5 s. */
  readonly maxAgeMs?: number;
};

/** Caches lists by tenant until the read model moves. A list that was being read during a move is used once and not kept. */
export function createWebhookDirectory({ webhooks, vault, onMove, now, logger, maxAgeMs = 5_000 }: WebhookDirectoryDependencies): WebhookDirectory {
  const cache = new Map<string, { readonly list: Promise<ReadonlyMap<string, KnownWebhook>>; readonly until: number }>();
  const stop = onMove(() => {
    cache.clear();
  });

  async function load(tenant: string): Promise<ReadonlyMap<string, KnownWebhook>> {
    const rows = await webhooks.list(tenant);
    return new Map(rows.map((row) => [row.id, open(row)]));
  }

  function open(row: StoredWebhook): KnownWebhook {
    try {
      return openWebhook(vault, row);
    } catch {
      logger.error('a webhook can not be opened with the current ENCRYPTION_KEY; its deliveries wait', { webhookId: row.id });
      return { ...row, unreadable: true };
    }
  }

  return {
    of(tenant) {
      const time = now().getTime();
      const known = cache.get(tenant);
      if (known && known.until > time) return known.list;
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
