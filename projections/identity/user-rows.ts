import type { RecordedEvent } from '../../domain/event.ts';
import { DEFAULT_TENANT, rightsAfter } from '../../domain/identity/memberships.ts';
import type { SecondFactor } from '../../domain/identity/mfa.ts';
import { secondFactorAfter } from '../../domain/identity/second-factor-after.ts';
import {
  SESSION_ENDING,
  TENANT_SESSION_ENDING,
  type UserEvent,
  userEvents,
} from '../../domain/identity/user-events.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `users` with the user's memberships. Times are in the driver's or the events' form. */
export type UserRow = {
  readonly user_id: string;
  readonly email: JsonObject;
  readonly password_hash: JsonObject;
  readonly roles: readonly string[];
  readonly disabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_login_at: string | null;
  readonly revision: number;
  /** Revision of the last event that ended the user's sessions in all tenants. */
  readonly sessions_revision: number;
  /** The session that this event kept open. */
  readonly kept_session: string | null;
  readonly mfa: SecondFactor | null;
  readonly memberships: readonly MembershipRow[];
};

/**
 * A current or former membership (`member` is false). `sessions_revision` is the revision of the last event that ended
 * the user's sessions in this tenant.
 */
export type MembershipRow = {
  readonly tenant_id: string;
  readonly roles: readonly string[];
  readonly joined_at: string;
  readonly member: boolean;
  readonly sessions_revision: number;
};

/** A user's row after an event; undefined after its deletion. @throws TypeError for a change without an existing row */
export function evolveUser(row: UserRow | undefined, recorded: RecordedEvent): UserRow | undefined {
  const event = userEvents.parse(recorded);
  const { occurred_at: at } = recorded.metadata;
  if (event.type === 'UserCreated') {
    const { user_id, email, password_hash } = event.data;
    return {
      user_id,
      email,
      password_hash,
      disabled: false,
      created_at: at,
      updated_at: at,
      last_login_at: null,
      revision: recorded.revision,
      sessions_revision: recorded.revision,
      kept_session: null,
      mfa: null,
      ...rightsRows({ roles: [], memberships: [] }, event, recorded),
    };
  }
  // A deletion always precedes it and has removed the row.
  if (event.type === 'UserErased') return undefined;
  if (!row) throw new TypeError(`${event.type} on a user that does not exist, position ${recorded.position}`);
  const { revision } = recorded;
  const next: UserRow = {
    ...row,
    revision,
    ...(SESSION_ENDING.has(event.type) ? { sessions_revision: revision, kept_session: null } : {}),
  };
  switch (event.type) {
    case 'UserRolesChanged':
    case 'UserMembershipGranted':
    case 'UserMembershipRemoved':
      return { ...next, ...rightsRows(row, event, recorded), updated_at: at };
    case 'UserStateChanged':
      return { ...next, disabled: event.data.disabled, updated_at: at };
    case 'UserPasswordChanged':
      return {
        ...next,
        password_hash: event.data.password_hash,
        kept_session: event.data.kept_session ?? null,
        updated_at: at,
      };
    case 'UserPasswordRehashed':
      return { ...next, password_hash: event.data.password_hash };
    case 'UserMfaEnabled':
    case 'UserRecoveryCodeUsed':
    case 'UserMfaDisabled':
      return { ...next, mfa: secondFactorAfter(row.mfa ?? undefined, event) ?? null, updated_at: at };
    case 'UserSignInBlocked':
      return next;
    case 'UserSignedIn':
      return { ...next, last_login_at: at };
    case 'UserSessionEnded':
      return next;
    case 'UserDeleted':
      return undefined;
  }
}

/** Roles and memberships after an event. A user who joins again goes to the end of the order of joining. */
function rightsRows(
  { roles, memberships: rows }: Pick<UserRow, 'roles' | 'memberships'>,
  event: UserEvent,
  { revision, metadata }: RecordedEvent,
): Pick<UserRow, 'roles' | 'memberships'> {
  const before = rows.filter(({ member }) => member).map((row) => ({ tenant: row.tenant_id, roles: row.roles }));
  const after = rightsAfter({ roles, memberships: before }, event);
  const touched = TENANT_SESSION_ENDING.has(event.type) && 'tenant' in event.data ? event.data.tenant : undefined;
  const ended = (tenant: string, known: number): number => (tenant === touched ? revision : known);
  const members = after.memberships.map(({ tenant, roles: held }): MembershipRow => {
    const row = rows.find(({ tenant_id }) => tenant_id === tenant);
    return {
      tenant_id: tenant,
      roles: held,
      joined_at: row?.member === true ? row.joined_at : metadata.occurred_at,
      member: true,
      sessions_revision: ended(tenant, row?.sessions_revision ?? revision),
    };
  });
  const left = rows.filter(({ tenant_id }) => !members.some((member) => member.tenant_id === tenant_id));
  return {
    roles: after.roles,
    memberships: [
      ...members,
      ...left.map((row) => ({
        ...row,
        roles: [],
        member: false,
        sessions_revision: ended(row.tenant_id, row.sessions_revision),
      })),
    ],
  };
}

/** The existing rows by user id. */
export async function loadUsers(
  queryable: Queryable,
  { schema }: Target,
  ids: readonly string[],
): Promise<Map<string, UserRow>> {
  const rows = await queryable.query<{ row: UserRow }>(
    `select to_jsonb(u) || jsonb_build_object('memberships', coalesce(
       (select jsonb_agg(to_jsonb(m) - 'user_id') from ${schema}.memberships m where m.user_id = u.user_id),
         '[]')) as row
     from ${schema}.users u where u.user_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ row }) => [row.user_id, row]));
}

/** Upserts `rows` and deletes the users with the ids `removed`. Memberships in the tenants `deleted` are not stored. */
export async function saveUsers(
  tx: Transaction,
  { schema }: Target,
  {
    rows,
    removed,
    deleted,
  }: {
    readonly rows: readonly UserRow[];
    readonly removed: readonly string[];
    readonly deleted: ReadonlySet<string>;
  },
): Promise<void> {
  const touched = [...removed, ...rows.map(({ user_id: id }) => id)];
  await tx.query(`delete from ${schema}.memberships where user_id = any($1::uuid[])`, [touched]);
  if (removed.length > 0) await tx.query(`delete from ${schema}.users where user_id = any($1::uuid[])`, [removed]);
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.users (tenant_id, user_id, email, password_hash, roles, disabled, created_at, updated_at,
     last_login_at, revision, sessions_revision, kept_session, mfa)
     select '${DEFAULT_TENANT}', r.user_id, r.email, r.password_hash, r.roles, r.disabled, r.created_at, r.updated_at,
       r.last_login_at, r.revision, r.sessions_revision, r.kept_session, nullif(r.mfa, 'null')
     from jsonb_to_recordset($1::jsonb) as r(user_id uuid, email jsonb, password_hash jsonb, roles text[],
       disabled boolean, created_at timestamptz, updated_at timestamptz, last_login_at timestamptz,
       revision integer, sessions_revision integer, kept_session uuid, mfa jsonb)
     on conflict (user_id) do update
       set roles = excluded.roles, disabled = excluded.disabled, password_hash = excluded.password_hash,
       updated_at = excluded.updated_at, last_login_at = excluded.last_login_at, revision = excluded.revision,
       sessions_revision = excluded.sessions_revision, kept_session = excluded.kept_session, mfa = excluded.mfa`,
    [JSON.stringify(rows)],
  );
  await tx.query(
    `insert into ${schema}.memberships (tenant_id, user_id, roles, joined_at, member, sessions_revision)
     select r.tenant_id, r.user_id, r.roles, r.joined_at, r.member, r.sessions_revision
     from jsonb_to_recordset($1::jsonb) as r(tenant_id text, user_id uuid, roles text[], joined_at timestamptz,
       member boolean, sessions_revision integer)`,
    [
      JSON.stringify(
        rows.flatMap(({ user_id, memberships }) =>
          memberships
            .filter(({ tenant_id }) => !deleted.has(tenant_id))
            .map((membership) => ({ user_id, ...membership })),
        ),
      ),
    ],
  );
}
