import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { apiKey, decideApiKey, needsPaidLimit } from '../../domain/identity/api-key.ts';
import { parseApiKeyEvent } from '../../domain/identity/api-key-events.ts';
import type { NewApiKey } from '../../domain/identity/new-api-key.ts';
import { checkNewApiKey } from '../../domain/identity/new-api-key.ts';
import { distinctRoles } from '../../domain/identity/roles.ts';
import { FEATURES } from '../../domain/platform/features.ts';
import { handleCommand } from '../handle-command.ts';
import { capExceeded, paymentRequired } from '../platform/gates.ts';
import { newApiKeySecret } from './api-key-secret.ts';
import { aloneAndCaughtUp } from './caught-up.ts';
import { apiKeyStream } from './decide-on-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { ApiKeyRecord } from './identity-reads.ts';

/** Active keys of a tenant without `apikey-pro` (spec 1, limits). */
const FREE_KEYS = FEATURES.apikey.limits['apikey.keys'];

export type CreatedApiKey = { readonly key: ApiKeyRecord; readonly rawKey: string; readonly position: GlobalPosition | undefined };

/**
 * Makes an API key for the tenant; `rawKey` is never to be had again (spec 1, API keys).
 * @throws `cannot_grant_roles`, `validation_failed`, `api_key_needs_expiry`, `api_key_expires_late`, `payment_required`, `cap_exceeded`
 */
export async function createApiKey(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'exclusive' | 'progress' | 'entitlements' | 'secrets' | 'hashApiKey'>,
  { asked, maker }: { readonly asked: NewApiKey; readonly maker: { readonly roles: readonly string[] } },
  context: CommandContext,
): Promise<CreatedApiKey> {
  const { entitlements, reads } = dependencies;
  const now = context.now();
  checkNewApiKey(asked, maker, now);
  if (entitlements.has('apikey-pro')) return append();
  if (needsPaidLimit(asked.monthlyLimit, 0)) {
    throw paymentRequired({ plugin: 'apikey', feature: 'apikey-pro' }, entitlements);
  }
  return aloneAndCaughtUp(dependencies, `api-keys/${context.tenant}`, async () => {
    const current = await reads.countActiveApiKeys(context.tenant, now);
    if (current >= FREE_KEYS) {
      throw capExceeded({ cap: 'apikey.keys', limit: FREE_KEYS, current }, entitlements);
    }
    return append();
  });

  async function append(): Promise<CreatedApiKey> {
    const keyId = context.newId();
    const { rawKey, prefix, keyHash } = newApiKeySecret(dependencies);
    const roles = distinctRoles(asked.roles);
    const { name, scopes, schemas, expiresAt, monthlyLimit } = asked;
    const event = {
      key_id: keyId, name, prefix, key_hash: keyHash, scopes, roles, schemas,
      expires_at: expiresAt?.toISOString() ?? null, monthly_limit: monthlyLimit,
    };
    const { position, events } = await handleCommand({
      eventStore: dependencies.eventStore,
      stream: apiKeyStream(context.tenant, keyId),
      decider: apiKey,
      parse: parseApiKeyEvent,
      context,
      decide: (state) => decideApiKey({ kind: 'create', event }, state),
    });
    if (position !== undefined) dependencies.changes.expect(position);
    const key = { id: keyId, tenant: context.tenant, name, prefix, scopes, roles, schemas, enabled: true, expiresAt: expiresAt ?? null, monthlyLimit, createdAt: new Date(events[0]?.metadata.occurred_at ?? now) };
    return { key, rawKey, position };
  }
}
