import type { WebhookDeliveryFailure, WebhookEvent } from '../../domain/automation/webhook.ts';
import type { NewEvent } from '../../domain/event.ts';
import { hasCode } from '../../domain/errors.ts';
import { streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { UnannouncedDeadLetter, WebhookQueue } from '../ports/webhook-queue.ts';

const BATCH = 50;
const LEASE_MS = 30_000;

/**
 * Appends `WebhookDeliveryFailed` (`webhook.delivery_failed`) for dead letters that have none yet. The event's id is the dead letter's:
 * a crash between append and mark repeats an append that changes nothing.
 */
export async function announceDeadLetters({ queue, eventStore, now }: { readonly queue: WebhookQueue; readonly eventStore: EventStore; readonly now: () => Date }): Promise<void> {
  for (;;) {
    const letters = await queue.claimUnannounced({ limit: BATCH, leaseMs: LEASE_MS });
    for (const letter of letters) {
      await append(eventStore, letter, now());
      await queue.announced([letter.id]);
    }
    if (letters.length < BATCH) return;
  }
}

async function append(eventStore: EventStore, letter: UnannouncedDeadLetter, now: Date): Promise<void> {
  const stream = streamName({ category: 'webhook', tenant: letter.tenant, id: letter.webhookId });
  const event = toEvent(letter, now);
  try {
    await eventStore.append(stream, [event], { expected: 'any' });
  } catch (error) {
    // A tombstoned stream takes no more facts; the dead letter itself stays.
    if (!hasCode(error, 'stream_deleted')) throw error;
  }
}

function toEvent(letter: UnannouncedDeadLetter, now: Date): NewEvent {
  const failure: WebhookDeliveryFailure = {
    webhook_id: letter.webhookId,
    webhook_name: letter.webhookName,
    dead_letter_id: letter.id,
    event_type: letter.event,
    schema: letter.schema,
    total_attempts: letter.totalAttempts,
    ...(letter.lastStatusCode === undefined ? {} : { last_status_code: letter.lastStatusCode }),
  };
  const fact: WebhookEvent = { type: 'WebhookDeliveryFailed', data: failure };
  return {
    id: letter.id,
    type: fact.type,
    data: fact.data,
    metadata: {
      tenant: letter.tenant,
      actor: { kind: 'system', id: 'webhooks' },
      $correlationId: letter.id,
      $causationId: letter.id,
      occurred_at: now.toISOString(),
      schema_version: 1,
    },
  };
}
