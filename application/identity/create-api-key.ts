import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { type ApiKeySettings, needsPaidLimit } from '../../domain/identity/api-key.ts';
import { checkNewApiKey } from '../../domain/identity/new-api-key.ts';
import { distinctRoles } from '../../domain/identity/roles.ts';
import { FEATURES } from '../../domain/platform/features.ts';
import { findEarlierWrite } from '../find-earlier-write.ts';
import { capExceeded, paymentRequired } from '../platform/license-refusals.ts';
import type { ApiKeyRecord } from '../ports/identity-reads.ts';
import { newApiKeySecret, prefixIn } from './api-key-secret.ts';
import type { CreateApiKeyDependencies } from './credential-dependencies.ts';
import { apiKeyStream, decideOnApiKey } from './decide-on-api-key.ts';
import { runExclusively } from './run-exclusively.ts';

/** Active keys that a tenant may have without the entitlement `apikey-pro`. */
const FREE_KEYS = FEATURES.apikey.limits['apikey.keys'];

export type CreatedApiKey = {
  readonly key: ApiKeyRecord;
  /** The secret; it cannot be read again. */
  readonly rawKey: string;
  readonly position: GlobalPosition | undefined;
};

/**
 * Creates an API key of the tenant.
 * @param input `creator` is the caller, who may grant only the roles that they hold.
 * @throws `cannot_grant_roles`, `validation_failed`, `api_key_needs_expiry`, `api_key_expires_late`,
 * `payment_required`, `cap_exceeded`
 */
export async function createApiKey(
  {
    requested,
    creator,
  }: { readonly requested: ApiKeySettings; readonly creator: { readonly roles: readonly string[] } },
  context: CommandContext,
  dependencies: CreateApiKeyDependencies,
): Promise<CreatedApiKey> {
  const { entitlements, reads } = dependencies;
  const now = context.now();
  const keyId = context.newId();
  checkNewApiKey(requested, creator, now);
  // The key of an earlier attempt counts already.
  const stream = apiKeyStream(context.tenant, keyId);
  if (entitlements.has('apikey-pro') || (await findEarlierWrite({ stream }, context, dependencies))) return append();
  if (needsPaidLimit(requested.monthlyLimit, 0)) {
    throw paymentRequired({ plugin: 'apikey', feature: 'apikey-pro' }, { entitlements });
  }
  return runExclusively(
    {
      name: `api-keys/${context.tenant}`,
      async work() {
        const current = await reads.countActiveApiKeys(context.tenant, now);
        if (current >= FREE_KEYS) {
          throw capExceeded({ cap: 'apikey.keys', limit: FREE_KEYS, current }, { entitlements });
        }
        return append();
      },
    },
    dependencies,
  );

  async function append(): Promise<CreatedApiKey> {
    const { rawKey, prefix, keyHash } = newApiKeySecret(dependencies);
    const roles = distinctRoles(requested.roles);
    const { name, scopes, schemas, expiresAt, monthlyLimit } = requested;
    const settings = { name, scopes, roles, schemas, expiresAt, monthlyLimit };
    const { position, events } = await decideOnApiKey(
      {
        id: keyId,
        commandFor: () => ({ kind: 'create', keyId, settings, secret: { prefix, keyHash } }),
      },
      context,
      dependencies,
    );
    const key = {
      id: keyId,
      tenant: context.tenant,
      name,
      prefix: prefixIn(events) ?? prefix,
      scopes,
      roles,
      schemas,
      enabled: true,
      expiresAt: expiresAt ?? null,
      monthlyLimit,
      createdAt: new Date(events[0]?.metadata.occurred_at ?? now),
    };
    return { key, rawKey, position };
  }
}
