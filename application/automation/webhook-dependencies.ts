import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { Outbound } from '../ports/outbound.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook, Webhooks } from '../ports/webhooks.ts';

/** What the use cases of webhooks work with. */
export type WebhookDependencies = {
  readonly eventStore: EventStore;
  readonly vault: Vault;
  readonly outbound: Pick<Outbound, 'check' | 'send'>;
  readonly webhooks: Webhooks;
  readonly entitlements: Entitlements;
  readonly exclusive: Exclusive;
  readonly progress: { waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean> };
  /** A new secret of at least 256 bits. */
  readonly newSecret: () => string;
};

/** A webhook after a command, and where the read model has to be to show it. */
export type WebhookOutcome = { readonly webhook: StoredWebhook; readonly position: GlobalPosition | undefined };

/** Read model that webhooks are read from. */
export const AUTOMATION = 'automation';

export function webhookStream(tenant: string, id: string): string {
  return streamName({ category: 'webhook', tenant, id });
}
