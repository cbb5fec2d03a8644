import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { newApiKeySecret, prefixIn } from './api-key-secret.ts';
import type { CredentialSecretDependencies } from './credential-dependencies.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

export type RotatedApiKey = {
  readonly rawKey: string;
  readonly prefix: string;
  readonly position: GlobalPosition | undefined;
};

/**
 * Replaces the secret of an API key. The replaced secret works for `graceSeconds` more; a secret from an earlier
 * rotation stops working at once.
 * @param input `creator` is the caller, who must hold the key's roles.
 * @throws `api_key_not_found`, `api_key_revoked`, `cannot_grant_roles`
 */
export async function rotateApiKey(
  {
    keyId,
    graceSeconds,
    creator,
  }: { readonly keyId: string; readonly graceSeconds: number; readonly creator: { readonly roles: readonly string[] } },
  context: CommandContext,
  dependencies: IdentityWriteDependencies & CredentialSecretDependencies,
): Promise<RotatedApiKey> {
  const { rawKey, prefix, keyHash } = newApiKeySecret(dependencies);
  const previousUntil = graceSeconds === 0 ? null : new Date(context.now().getTime() + graceSeconds * 1_000);
  const { position, events } = await decideOnApiKey(
    {
      id: keyId,
      commandFor: () => ({ kind: 'rotate', secret: { prefix, keyHash }, previousUntil, creator }),
    },
    context,
    dependencies,
  );
  return { rawKey, prefix: prefixIn(events) ?? prefix, position };
}
