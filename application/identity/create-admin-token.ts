import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { checkNewAdminToken, expiryOfAdminToken } from '../../domain/identity/new-admin-token.ts';
import type { AdminTokenRecord } from '../ports/identity-reads.ts';
import type { AdminTokenDependencies } from './credential-dependencies.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';
import { type Reauthentication, reauthenticate } from './reauthenticate.ts';

/** A token with its raw secret, which cannot be read again. */
export type IssuedAdminToken = {
  readonly token: AdminTokenRecord;
  readonly rawToken: string;
  readonly position: GlobalPosition | undefined;
};

export type CreateAdminTokenInput = {
  readonly name: string;
  readonly grants: readonly string[];
  readonly expiresAt: Date | undefined;
  readonly reauthentication: Reauthentication;
};

/**
 * Creates an admin token of the tenant. The request is validated before the user reauthenticates, so that an invalid
 * request does not use up a code.
 * @throws `unknown_grant`, `validation_failed`, `admin_token_expires_late`, and refusals of `reauthenticate`
 */
export async function createAdminToken(
  { name, grants: requested, expiresAt: until, reauthentication }: CreateAdminTokenInput,
  context: CommandContext,
  dependencies: AdminTokenDependencies,
): Promise<IssuedAdminToken> {
  const now = context.now();
  const grants = checkNewAdminToken({ name, grants: requested });
  const expiresAt = expiryOfAdminToken({ requested: until, before: undefined, now });
  await reauthenticate(reauthentication, context, dependencies);

  const { userId } = reauthentication;
  const tokenId = context.newId();
  const rawToken = dependencies.secrets.adminToken();
  const settings = { name: name.trim(), grants };
  const tokenHash = dependencies.hashCredential(rawToken);
  const secret = { tokenHash, issuedBy: userId, issuedAt: now, expiresAt };
  const { position } = await decideOnAdminToken(
    { id: tokenId, commandFor: () => ({ kind: 'create', tokenId, settings, secret }) },
    context,
    dependencies,
  );
  const token = {
    id: tokenId,
    tenant: context.tenant,
    ...settings,
    createdBy: userId,
    createdAt: now,
    issuedBy: userId,
    issuedAt: now,
    expiresAt,
    revoked: false,
  };
  return { token, rawToken, position };
}
