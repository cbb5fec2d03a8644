import { Type } from '@sinclair/typebox';
import type { UserRecord } from '../../../application/ports/identity-reads.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { Id, NullableTimestamp, Texts, Timestamp } from '../../http/schemas.ts';
import { ErasableEmail } from './schemas.ts';

/** A user in responses of the Admin API. */
export const User = Type.Object({
  id: Id,
  email: ErasableEmail,
  roles: Texts,
  disabled: Type.Boolean(),
  mfa_enabled: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_login_at: NullableTimestamp,
});

/** Presents users. Decrypts all their e-mail addresses in one call. */
export async function presentUsers(
  users: readonly UserRecord[],
  vault: Pick<Vault, 'openPersonalMany'>,
): Promise<readonly JsonObject[]> {
  const emails = await vault.openPersonalMany(users.map(({ id, email }) => ({ personId: id, sealed: email })));
  return users.map(({ id, roles, mfa, disabled, createdAt, updatedAt, lastLoginAt }, at) => ({
    id,
    email: emails[at] ?? null,
    roles,
    disabled,
    mfa_enabled: mfa !== null,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    last_login_at: lastLoginAt?.toISOString() ?? null,
  }));
}
