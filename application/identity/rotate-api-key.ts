import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { newApiKeySecret } from './api-key-secret.ts';
import { decideOnApiKey } from './decide-on-api-key.ts';
import type { IdentityDependencies } from './dependencies.ts';

export type RotatedApiKey = { readonly rawKey: string; readonly prefix: string; readonly position: GlobalPosition | undefined };

/**
 * Gives a key another secret; the old one works for `graceSeconds` more, one from an earlier rotation no longer (spec 4 A, API keys).
 * @throws `api_key_not_found`, `api_key_revoked`, `cannot_grant_roles`
 */
export async function rotateApiKey(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'secrets' | 'hashApiKey'>,
  { keyId, graceSeconds, maker }: { readonly keyId: string; readonly graceSeconds: number; readonly maker: { readonly roles: readonly string[] } },
  context: CommandContext,
): Promise<RotatedApiKey> {
  const { rawKey, prefix, keyHash } = newApiKeySecret(dependencies);
  const until = graceSeconds === 0 ? null : new Date(context.now().getTime() + graceSeconds * 1_000).toISOString();
  const event = { prefix, key_hash: keyHash, previous_until: until };
  const position = await decideOnApiKey(dependencies, { keyId, command: { kind: 'rotate', event, maker } }, context);
  return { rawKey, prefix, position };
}
