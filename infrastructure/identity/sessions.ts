import type { Rotation, SessionRecord, Sessions } from '../../application/ports/sessions.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { deleteExpired } from '../postgres/delete-expired.ts';

type SessionRow = {
  readonly session_id: string;
  readonly user_id: string;
  readonly tenant_id: string;
  readonly sessions_revision: number;
};
type TokenRow = SessionRow & { readonly ended: boolean; readonly expired: boolean; readonly used: boolean };

const SESSION_COLUMNS = 's.session_id, s.user_id, s.tenant_id, s.sessions_revision';

/** Stores sessions in `operational.sessions`, and digests of their tokens in `operational.refresh_tokens`. */
export function createSessions({ database }: { readonly database: Database }): Sessions {
  return {
    async open(session, { digest, expiresAt }) {
      await database.execute(
        `with opened as (
           insert into operational.sessions (session_id, user_id, tenant_id, sessions_revision, expires_at)
             values ($1, $2, $3, $4, $6) returning session_id
         )
         insert into operational.refresh_tokens (token_digest, session_id, expires_at)
         select $5, session_id, $6 from opened`,
        [session.sessionId, session.userId, session.tenant, session.sessionsRevision, digest, expiresAt],
      );
    },

    rotate: (step) =>
      database.transaction(async (tx): Promise<Rotation> => {
        // Locks the session's row: rotations of one session run one after another.
        const [row] = await tx.query<TokenRow>(
          `select ${SESSION_COLUMNS}, s.ended_at is not null as ended, t.expires_at <= $2 as expired,
           t.used_at is not null as used
         from operational.refresh_tokens t join operational.sessions s using (session_id)
         where t.token_digest = $1 for update of s, t`,
          [step.digest, step.now],
        );
        if (!row) return { outcome: 'refused' };
        const session = toRecord(row);
        if (row.used) {
          await endSession(tx, session.sessionId);
          return { outcome: 'reused', session };
        }
        if (row.ended || row.expired) return { outcome: 'refused' };
        await tx.execute('update operational.refresh_tokens set used_at = $2 where token_digest = $1', [
          step.digest,
          step.now,
        ]);
        await tx.execute(
          'insert into operational.refresh_tokens (token_digest, session_id, expires_at) values ($1, $2, $3)',
          [step.nextDigest, session.sessionId, step.nextExpiresAt],
        );
        await tx.execute('update operational.sessions set expires_at = $2 where session_id = $1', [
          session.sessionId,
          step.nextExpiresAt,
        ]);
        return { outcome: 'rotated', session };
      }),

    end: (sessionId) => endSession(database, sessionId),

    async sessionOf(digest) {
      const [row] = await database.query<SessionRow>(
        `select ${SESSION_COLUMNS} from operational.refresh_tokens t join operational.sessions s using (session_id)
         where t.token_digest = $1`,
        [digest],
      );
      return row && toRecord(row);
    },

    async isOpen(sessionId) {
      const rows = await database.query(
        'select 1 from operational.sessions where session_id = $1 and ended_at is null',
        [sessionId],
        'session-is-open',
      );
      return rows.length > 0;
    },

    sweep: (now) => deleteExpired({ table: 'operational.sessions', key: 'session_id', now }, { database }),
  };
}

async function endSession(queryable: Queryable, sessionId: string): Promise<boolean> {
  return (
    (await queryable.execute(
      'update operational.sessions set ended_at = now() where session_id = $1 and ended_at is null',
      [sessionId],
    )) > 0
  );
}

function toRecord(row: SessionRow): SessionRecord {
  return {
    sessionId: row.session_id,
    userId: row.user_id,
    tenant: row.tenant_id,
    sessionsRevision: row.sessions_revision,
  };
}
