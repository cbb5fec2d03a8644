import type { WebhookDeliveryFailure, WebhookEvent } from '../../domain/automation/webhook-events.ts';
import { hasCode } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { UnannouncedDeadLetter, WebhookQueue } from '../ports/webhook-queue.ts';

const BATCH = 50;
const RESERVED_MS = 30_000;

type AnnounceDeadLettersDependencies = {
  readonly queue: Pick<WebhookQueue, 'reserveUnannounced' | 'announced'>;
  readonly eventStore: Pick<EventStore, 'append'>;
};

type AnnounceDeadLettersContext = { readonly now: () => Date };

/**
 * Appends `WebhookDeliveryFailed` for every dead letter that has no such event yet. The id of the event is the id of
 * the dead letter. After a crash between the append and the mark the event is appended again, which changes nothing.
 */
export async function announceDeadLetters(
  context: AnnounceDeadLettersContext,
  dependencies: AnnounceDeadLettersDependencies,
): Promise<void> {
  const { queue } = dependencies;
  for (;;) {
    const letters = await queue.reserveUnannounced({ limit: BATCH, reservedMs: RESERVED_MS });
    for (const letter of letters) {
      await append(letter, context, dependencies);
      await queue.announced([letter.id]);
    }
    if (letters.length < BATCH) return;
  }
}

async function append(
  letter: UnannouncedDeadLetter,
  context: AnnounceDeadLettersContext,
  { eventStore }: Pick<AnnounceDeadLettersDependencies, 'eventStore'>,
): Promise<void> {
  const stream = streamName({ category: 'webhook', tenant: letter.tenant, id: letter.webhookId });
  try {
    await eventStore.append(stream, [failedEvent(letter, context)], { expected: 'any' });
  } catch (error) {
    // A tombstoned stream accepts no events. The dead letter itself stays readable.
    if (!hasCode(error, 'stream_deleted')) throw error;
  }
}

function failedEvent(letter: UnannouncedDeadLetter, { now }: AnnounceDeadLettersContext): NewEvent {
  const data: WebhookDeliveryFailure = {
    webhook_id: letter.webhookId,
    webhook_name: letter.webhookName,
    dead_letter_id: letter.id,
    event_type: letter.event,
    schema: letter.schema,
    total_attempts: letter.totalAttempts,
    ...(letter.lastStatusCode === undefined ? {} : { last_status_code: letter.lastStatusCode }),
  };
  const event: WebhookEvent = { type: 'WebhookDeliveryFailed', data };
  return toNewEvent(event, {
    tenant: letter.tenant,
    actor: { kind: 'system', id: 'webhooks' },
    correlationId: letter.id,
    causationId: letter.id,
    now,
    newId: () => letter.id,
  });
}
