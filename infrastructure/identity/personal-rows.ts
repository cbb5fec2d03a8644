import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';

/** A table of the schema `operational` whose rows have a `user_id`. `shown` are the columns of an export. */
type Table = { readonly kind: string; readonly name: string; readonly shown: string; readonly order: string };

const TABLES: readonly Table[] = [
  {
    kind: 'sessions',
    name: 'sessions',
    shown: 'session_id, user_id, tenant_id, created_at, expires_at, ended_at',
    order: 'created_at',
  },
  {
    kind: 'magic_link_sign_ins',
    name: 'magic_link_sign_ins',
    shown: 'user_id, tenant_id, outcome, new_user, at, address',
    order: 'at',
  },
  {
    kind: 'device_sign_ins',
    name: 'device_sign_ins',
    shown: 'user_id, tenant_id, created_at, expires_at, decision',
    order: 'created_at',
  },
  {
    kind: 'sign_in_challenges',
    name: 'sign_in_challenges',
    shown: 'user_id, tenant_id, method, expires_at',
    order: 'expires_at',
  },
  { kind: 'password_resets', name: 'password_resets', shown: 'user_id, expires_at', order: 'expires_at' },
  { kind: 'authenticators', name: 'authenticators', shown: 'user_id, proposed_until', order: 'user_id' },
];

type Row = { readonly row: JsonObject & { readonly user_id: string; readonly address?: SealedValue } };

/** Rows of accounts in the operational state. Times are RFC 3339 in PostgreSQL's form; sealed addresses are opened. */
export function createPersonalRows({
  database,
  vault,
}: {
  readonly database: Database;
  readonly vault: Pick<Vault, 'openPersonal'>;
}): readonly PersonalRecords[] {
  return TABLES.map(({ kind, name, shown, order }) => ({
    kind,
    async list({ userIds }) {
      const rows = await database.query<Row>(
        `select to_jsonb(r) as row
         from (select ${shown} from operational.${name} where user_id = any($1::uuid[]) order by ${order}) r`,
        [userIds],
      );
      return Promise.all(
        rows.map(async ({ row }) =>
          row.address === undefined
            ? row
            : { ...row, address: (await vault.openPersonal(row.user_id, row.address)) ?? null },
        ),
      );
    },
    erase: ({ userIds }) =>
      database.execute(`delete from operational.${name} where user_id = any($1::uuid[])`, [userIds]),
  }));
}
