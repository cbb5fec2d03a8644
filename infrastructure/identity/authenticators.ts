import type { Authenticators } from '../../application/ports/authenticators.ts';
import type { Sealed } from '../../application/ports/vault.ts';
import type { Queryable } from '../postgres/database.ts';

/** Set-ups and used codes in `operational.authenticators`. */
export function createAuthenticators({ database }: { readonly database: Queryable }): Authenticators {
  return {
    async propose(userId, secret, until) {
      await database.execute(
        `insert into operational.authenticators (user_id, proposed, proposed_until) values ($1, $2, $3)
         on conflict (user_id) do update set proposed = excluded.proposed, proposed_until = excluded.proposed_until`,
        [userId, secret, until],
      );
    },
    async proposed(userId, now) {
      const [row] = await database.query<{ proposed: Sealed }>(
        'select proposed from operational.authenticators where user_id = $1 and proposed is not null and proposed_until > $2', [userId, now],
      );
      return row?.proposed;
    },
    async useStep(userId, step) {
      const used = await database.execute(
        `insert into operational.authenticators as a (user_id, last_step) values ($1, $2)
         on conflict (user_id) do update set last_step = excluded.last_step where coalesce(a.last_step, -1) < excluded.last_step`,
        [userId, step],
      );
      return used === 1;
    },
    async settle(userId) {
      await database.execute('update operational.authenticators set proposed = null, proposed_until = null where user_id = $1', [userId]);
    },
  };
}
