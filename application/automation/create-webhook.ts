import { restoreHeaders } from '../../domain/automation/request-headers.ts';
import type { CommandContext } from '../../domain/context.ts';
import { FEATURES } from '../../domain/platform/features.ts';
import { findEarlierWrite } from '../find-earlier-write.ts';
import { capExceeded } from '../platform/license-refusals.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import { type AcceptedWebhook, type WebhookInput, acceptWebhook, unknownRedactedHeader } from './accept-webhook.ts';
import { decideOnWebhook, webhookStream } from './decide-on-webhook.ts';
import { sealWebhookHeaders, sealWebhookPart } from './decrypt-webhook.ts';
import { AUTOMATION, type WebhookDependencies, type WebhookOutcome } from './webhook-dependencies.ts';

/** Maximum number of webhooks of a tenant without the capability `webhook-pro`, including disabled ones. */
const FREE_WEBHOOKS = FEATURES.webhook.limits['webhook.endpoints'];

type CreateWebhookDependencies = Omit<WebhookDependencies, 'newSecret'>;

/** Creates a webhook. @throws `invalid_input`, `payment_required`, `cap_exceeded` */
export async function createWebhook(
  input: WebhookInput,
  context: CommandContext,
  dependencies: CreateWebhookDependencies,
): Promise<WebhookOutcome> {
  const accepted = await acceptWebhook(input, dependencies);
  if (!restoreHeaders(accepted.headers, {})) throw unknownRedactedHeader();
  const { entitlements, webhooks, exclusive } = dependencies;
  const id = context.newId();
  const create = (): Promise<WebhookOutcome> => append({ ...accepted, id }, context, dependencies);
  // The webhook of an earlier attempt counts already.
  const stream = webhookStream(context.tenant, id);
  if (entitlements.has('webhook-pro') || (await findEarlierWrite({ stream }, context, dependencies))) return create();
  // Concurrent requests must not exceed the limit: create one webhook at a time and wait for the read model's count.
  return exclusive(`webhooks/${context.tenant}`, async () => {
    const current = await webhooks.count(context.tenant);
    if (current >= FREE_WEBHOOKS) {
      throw capExceeded({ cap: 'webhook.endpoints', limit: FREE_WEBHOOKS, current }, { entitlements });
    }
    const outcome = await create();
    if (outcome.position !== undefined)
      await waitForReadModel({ name: AUTOMATION, position: outcome.position }, dependencies);
    return outcome;
  });
}

async function append(
  { id, name, url, headers, secret: plainSecret, plain }: AcceptedWebhook & { readonly id: string },
  context: CommandContext,
  dependencies: Pick<WebhookDependencies, 'eventStore' | 'vault'>,
): Promise<WebhookOutcome> {
  const settings = {
    name,
    ...plain,
    url: sealWebhookPart({ webhookId: id, part: 'url', plainText: url }, dependencies),
    headers: sealWebhookHeaders({ webhookId: id, headers }, dependencies),
  };
  const secret =
    typeof plainSecret === 'string'
      ? sealWebhookPart({ webhookId: id, part: 'secret', plainText: plainSecret }, dependencies)
      : null;
  const { position, events } = await decideOnWebhook(
    { id, commandFor: () => ({ kind: 'create', settings, secret }) },
    context,
    dependencies,
  );
  const at = events[0]?.metadata.occurred_at ?? '';
  return {
    webhook: { ...settings, id, tenant_id: context.tenant, secret, created_at: at, updated_at: at },
    position,
  };
}
