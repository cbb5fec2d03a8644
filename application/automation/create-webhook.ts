import { restoreHeaders } from '../../domain/automation/request-headers.ts';
import { createWebhook as decide, parseWebhookEvent, webhookDecider } from '../../domain/automation/webhook.ts';
import type { CommandContext } from '../../domain/context.ts';
import { FEATURES } from '../../domain/platform/features.ts';
import { handleCommand } from '../handle-command.ts';
import { capExceeded } from '../platform/gates.ts';
import { sealHeaders, sealPart } from './sealed-webhook.ts';
import type { WebhookDependencies, WebhookOutcome } from './webhook-dependencies.ts';
import { AUTOMATION, webhookStream } from './webhook-dependencies.ts';
import type { AcceptedWebhook, WebhookInput } from './webhook-input.ts';
import { acceptWebhook, redactedHeaderRefusal } from './webhook-input.ts';

/** Webhooks of a tenant without `webhook-pro`, enabled or not (spec 3, limits). */
const FREE_WEBHOOKS = FEATURES.webhook.limits['webhook.endpoints'];
const CATCH_UP_MS = 5_000;

/** Creates a webhook. @throws `invalid_input`, `payment_required`, `cap_exceeded` */
export async function createWebhook(dependencies: WebhookDependencies, input: WebhookInput, context: CommandContext): Promise<WebhookOutcome> {
  const accepted = await acceptWebhook(input, dependencies);
  if (!restoreHeaders(accepted.headers, {})) throw redactedHeaderRefusal();
  const { entitlements, webhooks, exclusive, progress } = dependencies;
  if (entitlements.has('webhook-pro')) return append(dependencies, accepted, context);
  // One at a time and counted on a read model that has caught up: the ceiling holds against a burst too.
  return exclusive(`webhooks/${context.tenant}`, async () => {
    const current = await webhooks.count(context.tenant);
    if (current >= FREE_WEBHOOKS) {
      throw capExceeded({ cap: 'webhook.endpoints', limit: FREE_WEBHOOKS, current }, entitlements);
    }
    const outcome = await append(dependencies, accepted, context);
    if (outcome.position !== undefined) await progress.waitFor([AUTOMATION], outcome.position, CATCH_UP_MS);
    return outcome;
  });
}

async function append({ eventStore, vault }: WebhookDependencies, { name, url, headers, secret, plain }: AcceptedWebhook, context: CommandContext): Promise<WebhookOutcome> {
  const id = context.newId();
  const settings = { name, ...plain, url: sealPart(vault, id, 'url', url), headers: sealHeaders(vault, id, headers) };
  const sealedSecret = secret === undefined || secret === null ? null : sealPart(vault, id, 'secret', secret);
  const { position, events } = await handleCommand({
    eventStore,
    stream: webhookStream(context.tenant, id),
    decider: webhookDecider,
    parse: parseWebhookEvent,
    context,
    decide: (state) => decide(state, settings, sealedSecret),
  });
  const at = events[0]?.metadata.occurred_at ?? '';
  return { webhook: { ...settings, id, tenant_id: context.tenant, secret: sealedSecret, created_at: at, updated_at: at }, position };
}
