import type { CommandContext } from '../../domain/context.ts';
import type { FieldError } from '../../domain/errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { areRoleNames, distinctRoles } from '../../domain/identity/roles.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import { checkPassword } from './check-password.ts';
import { HOME_TENANT, decideOnUser, userStream } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { emailDigest, passwordPurpose } from './user-secrets.ts';

export type NewUser = { readonly email: string; readonly password: string; readonly roles: readonly string[] };

export type CreatedUser = {
  readonly id: string;
  /** Normalised. */
  readonly email: string;
  readonly roles: readonly string[];
  /** RFC 3339. */
  readonly createdAt: string;
  readonly position: GlobalPosition | undefined;
};

/**
 * Creates an account, a member of `default` (spec 4 A, users and roles).
 * @throws `validation_failed`, `weak_password`, `user_exists`
 */
export async function createUser(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'passwords' | 'vault' | 'passwordPolicy'>,
  { email: given, password, roles }: NewUser,
  context: CommandContext,
  /** Further unique values the new account must win. */
  claimed: readonly { readonly request: ClaimRequest; readonly held: () => Error }[] = [],
): Promise<CreatedUser> {
  const { claims, passwords, vault, passwordPolicy } = dependencies;
  const email = checkNewUser(given, roles);
  checkPassword(password, passwordPolicy);
  const userId = context.newId();
  const owner = userStream(userId);
  const passwordHash = vault.sealSecret(passwordPurpose(userId), await passwords.hash(password));

  const wanted = [...claimed, { request: { tenant: HOME_TENANT, scope: 'user/email', value: email }, held: () => refusal('user_exists') }];
  const requests = wanted.map(({ request }) => request);
  const held = await claims.claim(owner, requests);
  const lost = wanted.find(({ request }) => held.some(({ scope, value }) => scope === request.scope && value === request.value));
  if (lost) throw lost.held();
  const outcome = await append().catch(async (error: unknown) => {
    // Of an unknown outcome the reaper learns from the stream.
    if (!hasCode(error, 'outcome_unknown')) await claims.abandon(owner, requests);
    throw error;
  });
  await claims.confirm(owner, requests, []);
  return outcome;

  async function append(): Promise<CreatedUser> {
    const event = {
      user_id: userId, email: await vault.sealPersonal(userId, email), email_digest: emailDigest(vault, email), password_hash: passwordHash,
      roles: distinctRoles(roles), member_of: HOME_TENANT,
    };
    const { position, events } = await decideOnUser(dependencies, { userId, command: { kind: 'create', event } }, context);
    return { id: userId, email, roles: event.roles, createdAt: events[0]?.metadata.occurred_at ?? context.now().toISOString(), position };
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
