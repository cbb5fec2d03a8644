import type { GlobalPosition } from '../../domain/event.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Exclusive } from '../ports/exclusive.ts';
import type { Outbound } from '../ports/outbound.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook, Webhooks } from '../ports/webhooks.ts';

/** Ports of the webhook use cases; each use case picks what it needs. */
export type WebhookDependencies = {
  readonly eventStore: EventStore;
  readonly vault: Vault;
  readonly outbound: Pick<Outbound, 'check' | 'send'>;
  readonly webhooks: Webhooks;
  readonly entitlements: Entitlements;
  readonly exclusive: Exclusive;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  /** Generates a secret of at least 256 bits. */
  readonly newSecret: () => string;
};

/** A webhook after a command. `position` is the one to wait for; undefined when nothing changed. */
export type WebhookOutcome = { readonly webhook: StoredWebhook; readonly position: GlobalPosition | undefined };

/** Name of the read model that holds the webhooks. */
export const AUTOMATION = 'automation';
