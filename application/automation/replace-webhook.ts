import { restoreHeaders } from '../../domain/automation/request-headers.ts';
import type { WebhookSettings } from '../../domain/automation/webhook-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { StoredWebhook } from '../ports/webhooks.ts';
import { type AcceptedWebhook, type WebhookInput, acceptWebhook, unknownRedactedHeader } from './accept-webhook.ts';
import { decideOnWebhook } from './decide-on-webhook.ts';
import { decryptWebhook, sealWebhookHeaders, sealWebhookPart } from './decrypt-webhook.ts';
import type { WebhookDependencies, WebhookOutcome } from './webhook-dependencies.ts';

/**
 * Replaces the settings of a webhook. Events hold only the settings that differ.
 * @throws `invalid_input`, `payment_required`, `webhook_not_found`
 */
export async function replaceWebhook(
  { id, input }: { readonly id: string; readonly input: WebhookInput },
  context: CommandContext,
  dependencies: Pick<WebhookDependencies, 'eventStore' | 'vault' | 'outbound' | 'webhooks' | 'entitlements'>,
): Promise<WebhookOutcome> {
  const stored = await dependencies.webhooks.one(context.tenant, id);
  if (!stored) throw refusal('webhook_not_found');
  const accepted = await acceptWebhook(input, dependencies);
  const secret =
    typeof accepted.secret === 'string'
      ? sealWebhookPart({ webhookId: id, part: 'secret', plainText: accepted.secret }, dependencies)
      : accepted.secret;
  const { state, position, events } = await decideOnWebhook(
    {
      id,
      commandFor: (current) => ({
        kind: 'change',
        settings: current ? changedSettings({ stored: { ...stored, ...current }, accepted }, dependencies) : {},
        secret,
      }),
    },
    context,
    dependencies,
  );
  if (!state) throw refusal('webhook_not_found');
  return {
    webhook: { ...stored, ...state, updated_at: events[0]?.metadata.occurred_at ?? stored.updated_at },
    position,
  };
}

/** Compares the opened values: sealing the same value twice gives different sealed values. */
function changedSettings(
  { stored, accepted }: { readonly stored: StoredWebhook; readonly accepted: AcceptedWebhook },
  { vault }: Pick<WebhookDependencies, 'vault'>,
): Partial<WebhookSettings> {
  const { name, url, headers, plain } = accepted;
  const webhookId = stored.id;
  const current = decryptWebhook(stored, { vault });
  const restored = restoreHeaders(headers, current.headers);
  if (!restored) throw unknownRedactedHeader();
  return {
    ...differing({ name, ...plain }, stored),
    ...(url === current.url ? {} : { url: sealWebhookPart({ webhookId, part: 'url', plainText: url }, { vault }) }),
    ...(same(restored, current.headers)
      ? {}
      : { headers: sealWebhookHeaders({ webhookId, headers: restored }, { vault }) }),
  };
}

/** The members of `next` that differ from `current`. */
function differing<T extends object>(next: T, current: NoInfer<T>): Partial<T> {
  const changed: Partial<T> = {};
  for (const key in next) if (!same(next[key], current[key])) changed[key] = next[key];
  return changed;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
