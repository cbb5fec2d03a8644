import type { Envelope } from '../../domain/automation/envelope.ts';
import { trimEnvelope } from '../../domain/automation/envelope.ts';
import type { Trigger } from '../../domain/automation/trigger.ts';
import { fires, presentContentType, presentEntry, triggerOf } from '../../domain/automation/trigger.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Logger } from '../ports/logger.ts';
import type { WebhookMessage } from '../ports/webhook-queue.ts';
import { messageId } from './message-id.ts';
import type { WebhookDirectory } from './webhook-directory.ts';

/** The whole entry around an event, under today's names where they are known. */
export type ChangeOf = (event: RecordedEvent) => Promise<{ readonly before: EntryState | undefined; readonly after: EntryState | undefined }>;

export type BuildMessagesDependencies = {
  readonly directory: Pick<WebhookDirectory, 'of'>;
  readonly changeOf: ChangeOf;
  /** Whether entries of the type have a status (`with_draft_publish`) that envelopes show. */
  readonly hasStatus: (tenant: string, typeId: string) => Promise<boolean> | boolean;
  readonly newId: () => string;
  readonly logger: Logger;
};

/** What the events make the tenants' webhooks send. Nothing is read for an event that no webhook hears of. */
export async function buildMessages(events: readonly RecordedEvent[], dependencies: BuildMessagesDependencies): Promise<readonly WebhookMessage[]> {
  const messages: WebhookMessage[] = [];
  // In order: the history of an entry is cheapest to read that way.
  for (const event of events) {
    const trigger = triggerOf(event);
    if (!trigger) continue;
    const { tenant } = event.metadata;
    const listeners = [...(await dependencies.directory.of(tenant)).values()].filter((webhook) => fires(webhook, trigger));
    if (listeners.length === 0) continue;
    const envelope = await envelopeOf(event, trigger, dependencies);
    if (!envelope) {
      // The stream was deleted or cut since: there is nothing left to send, and trying again would not bring it back.
      dependencies.logger.warn('an entry is gone from its stream; its webhooks do not fire', { eventId: event.id, position: event.position });
      continue;
    }
    const whole = JSON.stringify(envelope);
    for (const webhook of listeners) {
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

async function envelopeOf(event: RecordedEvent, trigger: Trigger, { changeOf, hasStatus }: BuildMessagesDependencies): Promise<Envelope | undefined> {
  const timestamp = event.metadata.occurred_at;
  if (trigger.kind === 'content_type') return { event: trigger.event, schema: trigger.schema, data: presentContentType(event), timestamp };
  const { before, after } = await changeOf(event);
  const current = trigger.event === 'after_delete' ? before : after;
  if (!current) return undefined;
  const base = { event: trigger.event, schema: current.schema };
  const withStatus = await hasStatus(event.metadata.tenant, current.typeId);
  const data = presentEntry(current, withStatus);
  if (trigger.event !== 'after_update') return { ...base, data, timestamp };
  return { ...base, data, old_data: before ? presentEntry(before, withStatus) : {}, timestamp };
}
