import type { PasswordReset, PasswordResets } from '../../application/ports/password-resets.ts';
import type { Database } from '../postgres/database.ts';
import { deleteExpired } from '../postgres/delete-expired.ts';

/** Stores password reset tokens in `operational.password_resets`. */
export function createPasswordResets({ database }: { readonly database: Database }): PasswordResets {
  return {
    async add(reset, { digest, expiresAt }) {
      await database.execute(
        'insert into operational.password_resets (token_digest, user_id, password_mark, expires_at) values ($1, $2, $3, $4)',
        [digest, reset?.userId ?? null, reset?.passwordMark ?? null, expiresAt],
      );
    },
    async find(digest, now) {
      const [reset] = await database.query<PasswordReset>(
        'select user_id as "userId", password_mark as "passwordMark" from operational.password_resets where token_digest = $1 and expires_at > $2 and user_id is not null',
        [digest, now],
      );
      return reset;
    },
    async delete(userId) {
      await database.execute('delete from operational.password_resets where user_id = $1', [userId]);
    },
    sweep: (now) => deleteExpired({ table: 'operational.password_resets', key: 'token_digest', now }, { database }),
  };
}
