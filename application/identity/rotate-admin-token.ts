import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { expiryOfAdminToken } from '../../domain/identity/new-admin-token.ts';
import type { IssuedAdminToken } from './create-admin-token.ts';
import type { AdminTokenDependencies } from './credential-dependencies.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';
import { type Reauthentication, reauthenticate } from './reauthenticate.ts';

/**
 * Replaces the secret of an admin token; the old secret stops working at once. From then on the token acts on behalf of
 * the user who rotated it.
 * @throws `admin_token_not_found`, `admin_token_revoked`, `admin_token_expires_late`, and refusals of `reauthenticate`
 */
export async function rotateAdminToken(
  {
    tokenId,
    expiresAt: until,
    reauthentication,
  }: { readonly tokenId: string; readonly expiresAt: Date | undefined; readonly reauthentication: Reauthentication },
  context: CommandContext,
  dependencies: AdminTokenDependencies,
): Promise<IssuedAdminToken> {
  const now = context.now();
  const before = await dependencies.reads.adminTokenById({ tenant: context.tenant, tokenId });
  if (!before) throw refusal('admin_token_not_found');
  if (before.revoked) throw refusal('admin_token_revoked');
  const expiresAt = expiryOfAdminToken({ requested: until, before, now });
  await reauthenticate(reauthentication, context, dependencies);

  const { userId } = reauthentication;
  const rawToken = dependencies.secrets.adminToken();
  const tokenHash = dependencies.hashCredential(rawToken);
  const secret = { tokenHash, issuedBy: userId, issuedAt: now, expiresAt };
  const { position } = await decideOnAdminToken(
    { id: tokenId, commandFor: () => ({ kind: 'rotate', secret }) },
    context,
    dependencies,
  );
  return { token: { ...before, issuedBy: userId, issuedAt: now, expiresAt }, rawToken, position };
}
