import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { parseUserCode } from '../../domain/identity/device-code.ts';
import type { DeviceApproval, DeviceSignIn } from '../ports/device-sign-ins.ts';
import type { ConfirmationDependencies } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { userCodeDigest } from './device-start.ts';
import { sessionsRevisionIn } from './session-standing.ts';
import { spendCounter } from './spend-counter.ts';

/** Codes that one person may look up in ten minutes, right or wrong: nobody finds one by trying. */
const LOOKS = { limit: 30, windowSeconds: 600 } as const;

export type Approver = { readonly userId: string; readonly tenant: string };

/** A sign-in of a device by the code that it shows. Each look counts. @throws `device_sign_in_not_found`, `rate_limited` */
export async function findDeviceSignIn(
  { vault, deviceSignIns, rateCounters }: Pick<IdentityDependencies, 'vault' | 'deviceSignIns' | 'rateCounters'>,
  { userCode, userId }: { readonly userCode: string; readonly userId: string },
  context: CommandContext,
): Promise<DeviceSignIn> {
  await spendCounter(rateCounters, { scope: `device/look/${userId}`, ...LOOKS });
  const code = parseUserCode(userCode);
  const found = code === undefined ? undefined : await deviceSignIns.find(userCodeDigest(vault, code), context.now());
  if (!found) throw refusal('device_sign_in_not_found');
  return found;
}

/**
 * Lets a device in as the approver, who shows that they are there in person (spec 1, device sign-in).
 * @throws as `confirmPerson`; `device_sign_in_decided`
 */
export async function approveDeviceSignIn(
  dependencies: ConfirmationDependencies & Pick<IdentityDependencies, 'deviceSignIns'>,
  { userCode, by, password, mfaCode }: { readonly userCode: string; readonly by: Approver; readonly password?: string | undefined; readonly mfaCode?: string | undefined },
  context: CommandContext,
): Promise<DeviceSignIn> {
  const user = await confirmPerson(dependencies, { userId: by.userId, password, mfaCode }, context);
  return decide(dependencies, { userCode, approval: { userId: user.id, tenant: by.tenant, sessionsRevision: sessionsRevisionIn(user, by.tenant) } }, context);
}

/** Turns a device away. @throws `device_sign_in_decided` */
export function denyDeviceSignIn(dependencies: Pick<IdentityDependencies, 'vault' | 'deviceSignIns'>, { userCode }: { readonly userCode: string }, context: CommandContext): Promise<DeviceSignIn> {
  return decide(dependencies, { userCode, approval: undefined }, context);
}

async function decide(
  { vault, deviceSignIns }: Pick<IdentityDependencies, 'vault' | 'deviceSignIns'>,
  { userCode, approval }: { readonly userCode: string; readonly approval: DeviceApproval | undefined },
  context: CommandContext,
): Promise<DeviceSignIn> {
  const decided = await deviceSignIns.decide(userCodeDigest(vault, parseUserCode(userCode) ?? ''), approval, context.now());
  if (!decided) throw refusal('device_sign_in_decided');
  return decided;
}
