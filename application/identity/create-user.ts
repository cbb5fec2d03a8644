import type { CommandContext } from '../../domain/context.ts';
import { type FieldError, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { ROLE_NAME_PROBLEM } from '../../domain/identity/principal.ts';
import { areRoleNames } from '../../domain/identity/roles.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import { type TakenValues, takenValues, withClaims } from '../with-claims.ts';
import type { CreateUserDependencies } from './account-dependencies.ts';
import { checkPasswordPolicy } from './check-password-policy.ts';
import { decideOnUser, userStream } from './decide-on-user.ts';
import { FIRST_ACCOUNT, emailClaim } from './user-claims.ts';
import { passwordPurpose } from './user-secrets.ts';

export type NewUser = {
  readonly email: string;
  /**
   * When undefined, the account gets a random password that nobody knows, until the user sets one by a mailed token.
   */
  readonly password: string | undefined;
  readonly roles: readonly string[];
  /** Tenant that the user joins with these roles. Default: the default tenant. */
  readonly tenant?: string | undefined;
  /** Whether this is the account of the setup. Only one such account can ever exist. */
  readonly firstAccount?: boolean;
};

export type CreatedUser = {
  readonly id: string;
  /** Normalised. */
  readonly email: string;
  /** Roles in the default tenant, and `super_admin`. */
  readonly roles: readonly string[];
  /** RFC 3339. */
  readonly createdAt: string;
  readonly position: GlobalPosition | undefined;
};

/**
 * Creates an account that is a member of one tenant.
 * @throws `validation_failed`, `tenant_not_found`, `weak_password`, `user_exists`; `setup_complete` for a second first
 *   account
 */
export async function createUser(
  { email: address, password, roles, tenant = DEFAULT_TENANT, firstAccount = false }: NewUser,
  context: CommandContext,
  dependencies: CreateUserDependencies,
): Promise<CreatedUser> {
  const { passwords, secrets, vault, passwordPolicy } = dependencies;
  const email = checkNewUser(address, roles);
  if (dependencies.tenants.state(tenant) === undefined) throw refusal('tenant_not_found');
  if (password !== undefined) checkPasswordPolicy({ password }, { passwordPolicy });
  const userId = context.newId();
  const owner = userStream(userId);
  const hash = await passwords.hash(password ?? secrets.refreshToken());

  const requests = [...(firstAccount ? [FIRST_ACCOUNT] : []), emailClaim(email)];
  return withClaims(
    {
      async work(session) {
        refuseHeld(await session.take({ owner, claimed: requests }));
        return append(takenValues({ owner, refuse: refuseHeld }, session));
      },
    },
    dependencies,
  );

  async function append(taken: TakenValues): Promise<CreatedUser> {
    const sealed = await vault.sealPersonal(userId, email);
    const passwordHash = await vault.sealPersonalSecret(userId, passwordPurpose(userId), hash);
    const settings = { email: sealed, passwordHash, roles, memberOf: tenant, firstAccount };
    const { state, position, events } = await decideOnUser(
      { userId, commandFor: () => ({ kind: 'create', userId, settings }), takenValues: taken },
      context,
      dependencies,
    );
    return {
      id: userId,
      email,
      roles: state?.roles ?? roles,
      createdAt: events[0]?.metadata.occurred_at ?? context.now().toISOString(),
      position,
    };
  }
}

function refuseHeld(held: readonly ClaimRequest[]): void {
  if (held.some(({ scope }) => scope === FIRST_ACCOUNT.scope)) throw refusal('setup_complete');
  if (held.length > 0) throw refusal('user_exists');
}

function checkNewUser(address: string, roles: readonly string[]): string {
  const fields: FieldError[] = [];
  const email = normaliseEmail(address);
  if (email === undefined) fields.push({ field: 'email', message: 'is not an e-mail address' });
  if (!areRoleNames(roles)) fields.push({ field: 'roles', message: ROLE_NAME_PROBLEM });
  if (email === undefined || fields.length > 0) throw refusal('validation_failed', { fields });
  return email;
}
