import { type Envelope, trimEnvelope } from '../../domain/automation/envelope.ts';
import {
  type Trigger,
  contentTypeForEnvelope,
  entryForEnvelope,
  fires,
  triggerOf,
} from '../../domain/automation/trigger.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { ChangeOf } from '../content/entry-history.ts';
import type { Logger } from '../ports/logger.ts';
import type { WebhookMessage } from '../ports/webhook-queue.ts';
import { messageId } from './message-id.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/** Whether entries of the content type have a status (`with_draft_publish`), which envelopes show. */
export type HasStatus = (typeId: string) => Promise<boolean> | boolean;

export type BuildMessagesDependencies = {
  readonly directory: Pick<WebhookDirectory, 'of'>;
  readonly changeOf: ChangeOf;
  readonly hasStatus: HasStatus;
  readonly newId: () => string;
  readonly logger: Logger;
};

/** Builds the deliveries that events cause. It reads nothing for an event that fires no webhook. */
export async function buildMessages(
  events: readonly RecordedEvent[],
  dependencies: BuildMessagesDependencies,
): Promise<readonly WebhookMessage[]> {
  const messages: WebhookMessage[] = [];
  // Reading an entry's history is cheapest in the order of its events.
  for (const event of events) {
    const trigger = triggerOf(event);
    if (!trigger) continue;
    const { tenant } = event.metadata;
    const subscribers = [...(await dependencies.directory.of(tenant)).values()].filter((webhook) =>
      fires(webhook, trigger),
    );
    if (subscribers.length === 0) continue;
    const envelope = await envelopeOf(event, trigger, dependencies);
    if (!envelope) {
      // The stream was deleted or truncated after the event, so the entry can never be read again.
      dependencies.logger.warn(
        'the entry of an event no longer exists in the event store; no webhook fires for the event',
        {
          event_id: event.id,
          position: event.position,
        },
      );
      continue;
    }
    const whole = JSON.stringify(envelope);
    for (const webhook of subscribers) {
      const trimmed = trimEnvelope(envelope, webhook);
      messages.push({
        id: messageId(event.id, webhook.id),
        tenant,
        webhookId: webhook.id,
        eventId: event.id,
        event: trigger.event,
        schema: trigger.schema,
        body: trimmed === envelope ? whole : JSON.stringify(trimmed),
        deliveryId: dependencies.newId(),
        traceparent: event.metadata.$traceparent,
      });
    }
  }
  return messages;
}

async function envelopeOf(
  event: RecordedEvent,
  trigger: Trigger,
  { changeOf, hasStatus }: BuildMessagesDependencies,
): Promise<Envelope | undefined> {
  const timestamp = event.metadata.occurred_at;
  if (trigger.kind === 'content_type')
    return { event: trigger.event, schema: trigger.schema, data: contentTypeForEnvelope(event), timestamp };
  const { before, after } = await changeOf(event);
  const current = trigger.event === 'after_delete' ? before : after;
  if (!current) return undefined;
  const base = { event: trigger.event, schema: current.schema };
  const withStatus = await hasStatus(current.typeId);
  const data = entryForEnvelope(current, withStatus);
  if (trigger.event !== 'after_update') return { ...base, data, timestamp };
  return { ...base, data, old_data: before ? entryForEnvelope(before, withStatus) : {}, timestamp };
}
