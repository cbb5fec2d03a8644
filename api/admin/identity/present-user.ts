import { Type } from '@sinclair/typebox';
import type { UserRecord } from '../../../application/ports/identity-reads.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { JsonObject } from '../../../domain/json.ts';

const Time = Type.String({ format: 'date-time' });

/** A user in responses of the Admin API. */
export const User = Type.Object({
  id: Type.String({ format: 'uuid' }),
  email: Type.Union([Type.String(), Type.Null()], { description: 'Null after the person was erased' }),
  roles: Type.Array(Type.String()),
  disabled: Type.Boolean(),
  mfa_enabled: Type.Boolean(),
  created_at: Time,
  updated_at: Time,
  last_login_at: Type.Union([Time, Type.Null()]),
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
