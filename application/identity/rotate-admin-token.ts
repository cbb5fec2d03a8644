import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { expiryOfAdminToken } from '../../domain/identity/new-admin-token.ts';
import type { Confirmation } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import type { AdminTokenDependencies, IssuedAdminToken } from './create-admin-token.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';

/**
 * Gives a token another secret; the old one ends at once (spec 4 A, admin tokens). From here on it acts for whoever rotated it.
 * @throws `admin_token_not_found`, `admin_token_revoked`, `admin_token_expires_late`, and refusals of `confirmPerson`
 */
export async function rotateAdminToken(
  dependencies: AdminTokenDependencies,
  { tokenId, expiresAt: until, confirmation }: { readonly tokenId: string; readonly expiresAt: Date | undefined; readonly confirmation: Confirmation },
  context: CommandContext,
): Promise<IssuedAdminToken> {
  const now = context.now();
  const before = await dependencies.reads.adminTokenById({ tenant: context.tenant, tokenId });
  if (!before) throw refusal('admin_token_not_found');
  if (before.revoked) throw refusal('admin_token_revoked');
  const expiresAt = expiryOfAdminToken({ asked: until, before, now });
  await confirmPerson(dependencies, confirmation, context);

  const { userId } = confirmation;
  const rawToken = dependencies.secrets.adminToken();
  const event = { token_hash: dependencies.hashApiKey(rawToken), issued_by: userId, issued_at: now.toISOString(), expires_at: expiresAt.toISOString() };
  const position = await decideOnAdminToken(dependencies, { tokenId, command: { kind: 'rotate', event } }, context);
  return { token: { ...before, issuedBy: userId, issuedAt: now, expiresAt }, rawToken, position };
}
