import type {
  DeviceApproval,
  DevicePoll,
  DeviceSignIn,
  DeviceSignIns,
} from '../../application/ports/device-sign-ins.ts';
import type { Database } from '../postgres/database.ts';
import { deleteExpired } from '../postgres/delete-expired.ts';

type Decision = 'approved' | 'denied' | null;
type FoundRow = { readonly created_at: Date; readonly expires_at: Date; readonly decision: Decision };
type PollRow = {
  readonly decision: Decision;
  readonly expires_at: Date;
  readonly polled_at: Date | null;
  readonly used_at: Date | null;
  readonly user_id: string | null;
  readonly tenant_id: string | null;
  readonly sessions_revision: number | null;
};

/** Stores pending sign-ins of devices in `operational.device_sign_ins`. */
export function createDeviceSignIns({ database }: { readonly database: Database }): DeviceSignIns {
  return {
    open: async ({ deviceDigest, userDigest, createdAt, expiresAt }) =>
      (await database.execute(
        'insert into operational.device_sign_ins (device_digest, user_digest, created_at, expires_at) values ($1, $2, $3, $4) on conflict (user_digest) do nothing',
        [deviceDigest, userDigest, createdAt, expiresAt],
      )) > 0,
    async find(userDigest, now) {
      const [row] = await database.query<FoundRow>(
        'select created_at, expires_at, decision from operational.device_sign_ins where user_digest = $1 and expires_at > $2',
        [userDigest, now],
      );
      return row && toSignIn(row);
    },
    async decide(userDigest, approval, now) {
      const [row] = await database.query<FoundRow>(
        `update operational.device_sign_ins set decision = $2, user_id = $3, tenant_id = $4, sessions_revision = $5
         where user_digest = $1 and decision is null and expires_at > $6 returning created_at, expires_at, decision`,
        [
          userDigest,
          approval ? 'approved' : 'denied',
          approval?.userId ?? null,
          approval?.tenant ?? null,
          approval?.sessionsRevision ?? null,
          now,
        ],
      );
      return row && toSignIn(row);
    },
    poll: (deviceDigest, { now, intervalMs }) =>
      database.transaction(async (tx): Promise<DevicePoll> => {
        const [row] = await tx.query<PollRow>(
          'select decision, expires_at, polled_at, used_at, user_id, tenant_id, sessions_revision from operational.device_sign_ins where device_digest = $1 for update',
          [deviceDigest],
        );
        if (!row || row.expires_at <= now || row.used_at !== null) return { outcome: 'expired' };
        if (row.decision === 'denied') return { outcome: 'denied' };
        const approval = approvalOf(row);
        if (approval) {
          await tx.execute('update operational.device_sign_ins set used_at = $2 where device_digest = $1', [
            deviceDigest,
            now,
          ]);
          return { outcome: 'approved', approval };
        }
        if (row.polled_at !== null && now.getTime() - row.polled_at.getTime() < intervalMs)
          return { outcome: 'slow_down' };
        await tx.execute('update operational.device_sign_ins set polled_at = $2 where device_digest = $1', [
          deviceDigest,
          now,
        ]);
        return { outcome: 'pending' };
      }),
    async markUnused(deviceDigest) {
      await database.execute('update operational.device_sign_ins set used_at = null where device_digest = $1', [
        deviceDigest,
      ]);
    },
    sweep: (now) => deleteExpired({ table: 'operational.device_sign_ins', key: 'device_digest', now }, { database }),
  };
}

function toSignIn(row: FoundRow): DeviceSignIn {
  return { createdAt: row.created_at, expiresAt: row.expires_at, status: row.decision ?? 'pending' };
}

function approvalOf({
  user_id: userId,
  tenant_id: tenant,
  sessions_revision: sessionsRevision,
}: PollRow): DeviceApproval | undefined {
  return userId === null || tenant === null || sessionsRevision === null
    ? undefined
    : { userId, tenant, sessionsRevision };
}
