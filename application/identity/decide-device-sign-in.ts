import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { parseUserCode } from '../../domain/identity/device-code.ts';
import type { DeviceApproval, DeviceSignIn } from '../ports/device-sign-ins.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { userCodeDigest } from './device-sign-in-digests.ts';
import { type Reauthentication, reauthenticate } from './reauthenticate.ts';
import { sessionsRevisionIn } from './session-validity.ts';

type DecideDependencies = Pick<DeviceSignInDependencies, 'vault' | 'deviceSignIns'>;

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
  return decide({ userCode, approval }, context, dependencies);
}

/** Denies the sign-in of a device. @throws `device_sign_in_decided` */
export function denyDeviceSignIn(
  { userCode }: { readonly userCode: string },
  context: CommandContext,
  dependencies: DecideDependencies,
): Promise<DeviceSignIn> {
  return decide({ userCode, approval: undefined }, context, dependencies);
}

async function decide(
  { userCode, approval }: { readonly userCode: string; readonly approval: DeviceApproval | undefined },
  context: CommandContext,
  { vault, deviceSignIns }: DecideDependencies,
): Promise<DeviceSignIn> {
  const decided = await deviceSignIns.decide(
    userCodeDigest(parseUserCode(userCode) ?? '', vault),
    approval,
    context.now(),
  );
  if (!decided) throw refusal('device_sign_in_decided');
  return decided;
}
