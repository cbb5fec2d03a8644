import type { CommandContext } from '../../domain/context.ts';
import type { DeviceSignIn } from '../ports/device-sign-ins.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { type Reauthentication, reauthenticate } from './reauthenticate.ts';
import { recordDeviceDecision } from './record-device-decision.ts';
import { sessionsRevisionIn } from './session-validity.ts';

/**
 * Approves the sign-in of a device after the user reauthenticates. The device gets a session of this user in `tenant`.
 * @throws refusals of `reauthenticate`, `device_sign_in_decided`
 */
export async function approveDeviceSignIn(
  {
    userCode,
    tenant,
    reauthentication,
  }: { readonly userCode: string; readonly tenant: string; readonly reauthentication: Reauthentication },
  context: CommandContext,
  dependencies: ReauthenticationDependencies & Pick<DeviceSignInDependencies, 'deviceSignIns'>,
): Promise<DeviceSignIn> {
  const user = await reauthenticate(reauthentication, context, dependencies);
  const approval = { userId: user.id, tenant, sessionsRevision: sessionsRevisionIn(user, tenant) };
  return recordDeviceDecision({ userCode, approval }, context, dependencies);
}
