import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { chunks } from '../../../domain/chunks.ts';
import { quoteIdentifier } from '../quote.ts';

/**
 * The role of the service in the embedded server. It owns the objects of its database and is no superuser: SQL that
 * reaches the server through the service starts no program and reads no file.
 */
export const SERVICE_ROLE = 'palimpsest_service';

/** Maximum number of objects that get a new owner in one transaction, which locks all of them. */
const CHUNK = 200;

/** The password of the role, derived from the superuser's: it does not reveal the latter. */
export function servicePasswordOf(superuserPassword: string): string {
  return createHmac('sha256', superuserPassword).update(SERVICE_ROLE).digest('hex');
}

/** Statements that give the objects of the connected superuser to the role. */
const OWNERSHIP = `
with own as (select oid from pg_roles where rolname = current_user),
schemas as (select n.oid, n.nspname from pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema')
select format('alter schema %I owner to ${SERVICE_ROLE}', s.nspname) as statement
from schemas s join pg_namespace n on n.oid = s.oid join own on own.oid = n.nspowner
union all
select format('alter %s %s owner to ${SERVICE_ROLE}',
  case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
    c.oid::regclass)
from pg_class c join schemas s on s.oid = c.relnamespace join own on own.oid = c.relowner
where c.relkind in ('r', 'p', 'v', 'm')
  or (c.relkind = 'S' and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
union all
select format('alter routine %s owner to ${SERVICE_ROLE}', p.oid::regprocedure)
from pg_proc p join schemas s on s.oid = p.pronamespace join own on own.oid = p.proowner
union all
select format('alter type %s owner to ${SERVICE_ROLE}', t.oid::regtype)
from pg_type t join schemas s on s.oid = t.typnamespace join own on own.oid = t.typowner
where t.typtype in ('e', 'd') or (t.typtype = 'c' and exists (select from pg_class c
  where c.oid = t.typrelid and c.relkind = 'c'))`;

/**
 * Creates the role and makes it the owner of the database and of what is in it: an earlier version of the service made
 * its objects as the superuser.
 * @param superuser a connection of the superuser to the database
 */
export async function prepareServiceRole(
  superuser: pg.Client,
  { database, password }: { readonly database: string; readonly password: string },
): Promise<void> {
  const { rows: known } = await superuser.query('select from pg_roles where rolname = $1', [SERVICE_ROLE]);
  if (known.length === 0) await superuser.query(`create role ${SERVICE_ROLE}`);
  await superuser.query(
    `alter role ${SERVICE_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
     password ${superuser.escapeLiteral(password)}`,
  );
  await superuser.query(`alter database ${quoteIdentifier(database)} owner to ${SERVICE_ROLE}`);
  const { rows } = await superuser.query<{ statement: string }>(OWNERSHIP);
  for (const chunk of chunks(rows, CHUNK)) await superuser.query(chunk.map(({ statement }) => statement).join(';'));
}
