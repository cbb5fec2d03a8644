import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { type SignedIn, completeSignIn } from './complete-sign-in.ts';
import type { PollDeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { deviceCodeDigest } from './device-sign-in-digests.ts';
import { isSessionValid } from './session-validity.ts';
import { POLL_SECONDS } from './start-device-sign-in.ts';

/** Half a second less than the interval that devices are given, to tolerate network jitter. */
const MIN_INTERVAL_MS = POLL_SECONDS * 1000 - 500;

/**
 * Answers a device that polls for its approval. An approved device gets one session of the approver in the tenant of
 * the approval. Events that end the approver's sessions invalidate the approval.
 * @throws `authorization_pending`, `slow_down`, `access_denied`, `expired_token` (unknown, expired or used),
 *   `tenant_disabled`
 */
export async function pollDeviceSignIn(
  { deviceCode }: { readonly deviceCode: string },
  context: CommandContext,
  dependencies: PollDeviceSignInDependencies,
): Promise<SignedIn> {
  const { deviceSignIns, reads, vault } = dependencies;
  const digest = deviceCodeDigest(deviceCode, vault);
  const poll = await deviceSignIns.poll(digest, { now: context.now(), intervalMs: MIN_INTERVAL_MS });
  switch (poll.outcome) {
    case 'pending':
      throw refusal('authorization_pending');
    case 'slow_down':
      throw refusal('slow_down', { headers: { 'Retry-After': String(POLL_SECONDS) } });
    case 'denied':
      throw refusal('access_denied');
    case 'expired':
      throw refusal('expired_token');
    case 'approved':
  }
  const { userId, tenant, sessionsRevision } = poll.approval;
  try {
    const user = await reads.userById(userId);
    if (!user || user.disabled || !isSessionValid(user, { sessionId: '', tenant, sessionsRevision }))
      throw refusal('access_denied');
    return await completeSignIn({ user, tenant, method: 'device' }, context, dependencies);
  } catch (error) {
    if (hasCode(error, 'access_denied') || hasCode(error, 'invalid_credentials'))
      throw refusal('access_denied', { cause: error });
    // After a transient error the device may use the approval again.
    await deviceSignIns.markUnused(digest).catch(() => undefined);
    throw error;
  }
}
