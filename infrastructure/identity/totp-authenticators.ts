import type { TotpAuthenticators } from '../../application/ports/totp-authenticators.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

/** Stores proposed authenticators and the last used time steps in `operational.authenticators`. */
export function createTotpAuthenticators({ database }: { readonly database: Database }): TotpAuthenticators {
  return {
    async propose(userId, secret, until) {
      await database.execute(
        `insert into operational.authenticators (user_id, proposed, proposed_until) values ($1, $2, $3)
         on conflict (user_id) do update set proposed = excluded.proposed, proposed_until = excluded.proposed_until`,
        [userId, secret, until],
      );
    },
    async proposed(userId, now) {
      const [row] = await database.query<{ proposed: SealedValue }>(
        'select proposed from operational.authenticators where user_id = $1 and proposed is not null and proposed_until > $2',
        [userId, now],
      );
      return row?.proposed;
    },
    async useStep(userId, step) {
      const used = await database.execute(
        `insert into operational.authenticators as a (user_id, last_step) values ($1, $2)
         on conflict (user_id) do update set last_step = excluded.last_step
           where coalesce(a.last_step, -1) < excluded.last_step`,
        [userId, step],
      );
      return used === 1;
    },
    async deleteProposed(userId) {
      await database.execute(
        'update operational.authenticators set proposed = null, proposed_until = null where user_id = $1',
        [userId],
      );
    },
  };
}
