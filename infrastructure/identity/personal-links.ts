import { linkPurpose } from '../../application/identity/magic-link-dependencies.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

type Row = {
  readonly token_digest: string;
  readonly tenant_id: string;
  readonly email: SealedValue;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
};

/**
 * Magic links of an address. The address is sealed, so every link is opened to find them. Links live for an hour at
 * most, so there are few.
 */
export function createPersonalLinks({
  database,
  vault,
}: {
  readonly database: Database;
  readonly vault: Pick<Vault, 'openSecret'>;
}): PersonalRecords {
  async function linksOf(email: string): Promise<readonly Row[]> {
    const rows = await database.query<Row>(
      'select token_digest, tenant_id, email, created_at, expires_at, used_at from operational.magic_links order by created_at',
    );
    return rows.filter((row) => vault.openSecret(linkPurpose(row.token_digest), row.email) === email);
  }
  return {
    kind: 'magic_links',
    list: async ({ email }) =>
      (await linksOf(email)).map(({ tenant_id, created_at, expires_at, used_at }) => ({
        tenant_id,
        created_at: created_at.toISOString(),
        expires_at: expires_at.toISOString(),
        used_at: used_at?.toISOString() ?? null,
      })),
    erase: async ({ email }) =>
      database.execute('delete from operational.magic_links where token_digest = any($1)', [
        (await linksOf(email)).map(({ token_digest }) => token_digest),
      ]),
  };
}
