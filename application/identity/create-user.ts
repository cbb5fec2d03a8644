import type { CommandContext } from '../../domain/context.ts';
import type { FieldError } from '../../domain/errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { areRoleNames, distinctRoles } from '../../domain/identity/roles.ts';
import { checkPassword } from './check-password.ts';
import { decideOnUser, userStream } from './decide-on-user.ts';
import { FIRST_ACCOUNT, emailClaim } from './user-claims.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { passwordPurpose } from './user-secrets.ts';

export type NewUser = {
  readonly email: string;
  /** undefined: one that nobody knows, until the person sets one by a mailed token. */
  readonly password: string | undefined;
  readonly roles: readonly string[];
  /** Tenant that the person becomes a member of; the roles are theirs there. Default `default`. */
  readonly tenant?: string | undefined;
};

export type CreatedUser = {
  readonly id: string;
  /** Normalised. */
  readonly email: string;
  /** Those in `default`, and `super_admin`. */
  readonly roles: readonly string[];
  /** RFC 3339. */
  readonly createdAt: string;
  readonly position: GlobalPosition | undefined;
};

/**
 * Creates an account, a member of one tenant (spec 4 A, users and roles).
 * @throws `validation_failed`, `tenant_not_found`, `weak_password`, `user_exists`; for the first account `setup_complete`
 */
export async function createUser(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'passwords' | 'secrets' | 'vault' | 'passwordPolicy' | 'tenants'>,
  { email: given, password, roles, tenant = HOME_TENANT }: NewUser,
  context: CommandContext,
  options: { readonly firstAccount?: boolean } = {},
): Promise<CreatedUser> {
  const { claims, passwords, secrets, vault, passwordPolicy } = dependencies;
  const email = checkNewUser(given, roles);
  if (dependencies.tenants.state(tenant) === undefined) throw refusal('tenant_not_found');
  if (password !== undefined) checkPassword(password, passwordPolicy);
  const userId = context.newId();
  const owner = userStream(userId);
  const passwordHash = vault.sealSecret(passwordPurpose(userId), await passwords.hash(password ?? secrets.refreshToken()));

  const requests = [...(options.firstAccount ? [FIRST_ACCOUNT] : []), emailClaim(email)];
  const held = await claims.claim(owner, requests);
  if (held.some(({ scope }) => scope === FIRST_ACCOUNT.scope)) throw refusal('setup_complete');
  if (held.length > 0) throw refusal('user_exists');
  const outcome = await append().catch(async (error: unknown) => {
    // Of an unknown outcome the reaper learns from the stream.
    if (!hasCode(error, 'outcome_unknown')) await claims.abandon(owner, requests).catch(() => undefined);
    throw error;
  });
  // What this leaves undone the reaper does.
  await claims.confirm(owner, requests, []).catch(() => undefined);
  return outcome;

  async function append(): Promise<CreatedUser> {
    const event = {
      user_id: userId, email: await vault.sealPersonal(userId, email), password_hash: passwordHash,
      roles: distinctRoles(roles), member_of: tenant,
      ...(options.firstAccount ? { first_account: true as const } : {}),
    };
    const { state, position, events } = await decideOnUser(dependencies, { userId, command: { kind: 'create', event } }, context);
    return { id: userId, email, roles: state.roles, createdAt: events[0]?.metadata.occurred_at ?? context.now().toISOString(), position };
  }
}

function checkNewUser(given: string, roles: readonly string[]): string {
  const fields: FieldError[] = [];
  const email = normaliseEmail(given);
  if (email === undefined) fields.push({ field: 'email', message: 'is not an e-mail address' });
  if (!areRoleNames(roles)) fields.push({ field: 'roles', message: 'role must be 1 to 64 letters, digits or _ . : -' });
  if (email === undefined || fields.length > 0) throw refusal('validation_failed', { fields });
  return email;
}
