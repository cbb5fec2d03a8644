import { restoreHeaders } from '../../domain/automation/request-headers.ts';
import type { WebhookEvent, WebhookSettings, WebhookState } from '../../domain/automation/webhook.ts';
import { deleteWebhook as decideDelete, parseWebhookEvent, replaceWebhook as decideReplace, rotateWebhookSecret as decideRotate, webhookDecider } from '../../domain/automation/webhook.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { CommandOutcome } from '../handle-command.ts';
import { handleCommand } from '../handle-command.ts';
import type { Vault } from '../ports/vault.ts';
import type { StoredWebhook } from '../ports/webhooks.ts';
import { openWebhook, sealHeaders, sealPart } from './sealed-webhook.ts';
import type { WebhookDependencies, WebhookOutcome } from './webhook-dependencies.ts';
import { webhookStream } from './webhook-dependencies.ts';
import type { AcceptedWebhook, WebhookInput } from './webhook-input.ts';
import { acceptWebhook, MIN_SECRET, redactedHeaderRefusal } from './webhook-input.ts';

/** Replaces a webhook with the input; only what differs becomes an event. @throws `invalid_input`, `payment_required`, `webhook_not_found` */
export async function replaceWebhook(dependencies: WebhookDependencies, { id, input }: { readonly id: string; readonly input: WebhookInput }, context: CommandContext): Promise<WebhookOutcome> {
  const { vault, webhooks } = dependencies;
  const stored = await webhooks.one(context.tenant, id);
  if (!stored) throw refusal('webhook_not_found');
  const accepted = await acceptWebhook(input, dependencies);
  const { secret } = accepted;
  const sealedSecret = secret === undefined || secret === null ? secret : sealPart(vault, id, 'secret', secret);
  const { state, position, events } = await decideOn(dependencies, id, context, (current) => decideReplace(current, current ? changes(vault, { ...stored, ...current }, accepted) : {}, sealedSecret));
  if (!state) throw refusal('webhook_not_found');
  return { webhook: { ...stored, ...state, updated_at: events[0]?.metadata.occurred_at ?? stored.updated_at }, position };
}

/** @throws `webhook_not_found` */
export async function deleteWebhook(dependencies: WebhookDependencies, id: string, context: CommandContext): Promise<GlobalPosition | undefined> {
  return (await decideOn(dependencies, id, context, decideDelete)).position;
}

/** Sets a new secret, or generates one. @returns it, once. @throws `invalid_input`, `webhook_not_found` */
export async function rotateWebhookSecret(
  dependencies: WebhookDependencies,
  { id, newSecret }: { readonly id: string; readonly newSecret: string | undefined },
  context: CommandContext,
): Promise<{ readonly newSecret: string; readonly position: GlobalPosition | undefined }> {
  if (newSecret !== undefined && newSecret.length < MIN_SECRET) {
    throw refusal('invalid_input', { fields: [{ field: 'new_secret', message: `must have at least ${MIN_SECRET} characters` }] });
  }
  const secret = newSecret ?? dependencies.newSecret();
  const sealed = sealPart(dependencies.vault, id, 'secret', secret);
  const { position } = await decideOn(dependencies, id, context, (state) => decideRotate(state, sealed));
  return { newSecret: secret, position };
}

/** Sealed values differ each time they are made, so the clear ones are compared. */
function changes(vault: Vault, stored: StoredWebhook, { name, url, headers, plain }: AcceptedWebhook): Partial<WebhookSettings> {
  const current = openWebhook(vault, stored);
  const restored = restoreHeaders(headers, current.headers);
  if (!restored) throw redactedHeaderRefusal();
  return {
    ...differing({ name, ...plain }, stored),
    ...(url === current.url ? {} : { url: sealPart(vault, stored.id, 'url', url) }),
    ...(same(restored, current.headers) ? {} : { headers: sealHeaders(vault, stored.id, restored) }),
  };
}

/** The members of `next` that differ. */
function differing<T extends object>(next: T, current: NoInfer<T>): Partial<T> {
  const changed: Partial<T> = {};
  for (const key in next) if (!same(next[key], current[key])) changed[key] = next[key];
  return changed;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function decideOn(
  { eventStore }: WebhookDependencies,
  id: string,
  context: CommandContext,
  decide: (state: WebhookState) => readonly WebhookEvent[],
): Promise<CommandOutcome<WebhookState>> {
  return handleCommand({ eventStore, stream: webhookStream(context.tenant, id), decider: webhookDecider, parse: parseWebhookEvent, context, decide });
}
