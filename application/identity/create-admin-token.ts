import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { checkNewAdminToken, expiryOfAdminToken } from '../../domain/identity/new-admin-token.ts';
import type { Confirmation, ConfirmationDependencies } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import { decideOnAdminToken } from './decide-on-admin-token.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { AdminTokenRecord } from './identity-reads.ts';

/** A token with the secret that is never to be had again. */
export type IssuedAdminToken = { readonly token: AdminTokenRecord; readonly rawToken: string; readonly position: GlobalPosition | undefined };

export type AdminTokenDependencies = ConfirmationDependencies & Pick<IdentityDependencies, 'eventStore' | 'changes' | 'secrets' | 'hashApiKey'>;

/**
 * Makes an admin token for the tenant (spec 4 A, admin tokens). What is asked for is checked before the person, so that a mistake in it uses up no code.
 * @throws `unknown_grant`, `validation_failed`, `admin_token_expires_late`, and refusals of `confirmPerson`
 */
export async function createAdminToken(
  dependencies: AdminTokenDependencies,
  { name, grants: asked, expiresAt: until, confirmation }: {
    readonly name: string;
    readonly grants: readonly string[];
    readonly expiresAt: Date | undefined;
    readonly confirmation: Confirmation;
  },
  context: CommandContext,
): Promise<IssuedAdminToken> {
  const now = context.now();
  const grants = checkNewAdminToken({ name, grants: asked });
  const expiresAt = expiryOfAdminToken({ asked: until, before: undefined, now });
  await confirmPerson(dependencies, confirmation, context);

  const { userId } = confirmation;
  const tokenId = context.newId();
  const rawToken = dependencies.secrets.adminToken();
  const event = {
    token_id: tokenId, name: name.trim(), grants, token_hash: dependencies.hashApiKey(rawToken),
    issued_by: userId, issued_at: now.toISOString(), expires_at: expiresAt.toISOString(),
  };
  const position = await decideOnAdminToken(dependencies, { tokenId, command: { kind: 'create', event } }, context);
  const token = { id: tokenId, tenant: context.tenant, name: event.name, grants, createdBy: userId, createdAt: now, issuedBy: userId, issuedAt: now, expiresAt, revoked: false };
  return { token, rawToken, position };
}
