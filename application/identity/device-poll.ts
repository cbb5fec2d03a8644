import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { SignInDependencies, SignedIn } from './complete-sign-in.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { POLL_SECONDS, deviceDigest } from './device-start.ts';
import { outlasts } from './session-standing.ts';

/** Half a second less than the devices are told: the network does not deliver evenly. */
const LEAST_INTERVAL_MS = POLL_SECONDS * 1000 - 500;

/**
 * The device asks whether it was approved; once it was, it gets a session of the approver in the tenant that they approved in, one time (spec 4 A, sign-in
 * details). An approval dies with what ends the approver's sessions.
 * @throws `authorization_pending`, `slow_down`, `access_denied`, `expired_token` (unknown, expired, used up), `tenant_disabled`
 */
export async function pollDeviceSignIn(
  dependencies: Omit<SignInDependencies, 'challenges'> & Pick<IdentityDependencies, 'reads' | 'deviceSignIns'>,
  { deviceCode }: { readonly deviceCode: string },
  context: CommandContext,
): Promise<SignedIn> {
  const { deviceSignIns, reads, vault } = dependencies;
  const digest = deviceDigest(vault, deviceCode);
  const poll = await deviceSignIns.poll(digest, { now: context.now(), intervalMs: LEAST_INTERVAL_MS });
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
    if (!user || user.disabled || !outlasts(user, { sessionId: '', tenant, sessionsRevision })) throw refusal('access_denied');
    return await completeSignIn(dependencies, { user, tenant, method: 'device' }, context);
  } catch (error) {
    if (hasCode(error, 'access_denied') || hasCode(error, 'invalid_credentials')) throw refusal('access_denied', { cause: error });
    await deviceSignIns.giveBack(digest).catch(() => undefined);
    throw error;
  }
}
