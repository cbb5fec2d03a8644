import type { MagicLink, MagicLinks } from '../../application/ports/magic-links.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

type Row = {
  readonly token_digest: string;
  readonly tenant_id: string;
  readonly host: string | null;
  readonly email: SealedValue;
  readonly created_at: Date;
  readonly expires_at: Date;
};

/** Stores magic links in `operational.magic_links`, and their redemptions in `operational.magic_link_sign_ins`. */
export function createMagicLinks({ database }: { readonly database: Database }): MagicLinks {
  return {
    async issue({ digest, tenant, host, email, createdAt, expiresAt }) {
      await database.execute(
        'insert into operational.magic_links (token_digest, tenant_id, host, email, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)',
        [digest, tenant, host, email, createdAt, expiresAt],
        'magic-link-issue',
      );
    },
    async find(digest) {
      const [row] = await database.query<Row>(
        'select token_digest, tenant_id, host, email, created_at, expires_at from operational.magic_links where token_digest = $1 and used_at is null',
        [digest],
      );
      return row && toLink(row);
    },
    use: async (digest, now) =>
      (await database.execute(
        'update operational.magic_links set used_at = $2 where token_digest = $1 and used_at is null',
        [digest, now],
      )) > 0,
    async markUnused(digest) {
      await database.execute('update operational.magic_links set used_at = null where token_digest = $1', [digest]);
    },
    sweep: (createdBefore, now) =>
      database.execute(
        'delete from operational.magic_links where created_at < $1 and (expires_at <= $2 or used_at is not null)',
        [createdBefore, now],
      ),
    async record({ id, tenant, userId, outcome, newUser, at, address }) {
      await database.execute(
        'insert into operational.magic_link_sign_ins (id, tenant_id, user_id, outcome, new_user, at, address) values ($1, $2, $3, $4, $5, $6, $7)',
        [id, tenant, userId, outcome, newUser, at, address],
      );
    },
    sweepHistory: (before) => database.execute('delete from operational.magic_link_sign_ins where at < $1', [before]),
  };
}

function toLink(row: Row): MagicLink {
  return {
    digest: row.token_digest,
    tenant: row.tenant_id,
    host: row.host,
    email: row.email,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
