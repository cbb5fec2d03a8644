import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { parseUserCode } from '../../domain/identity/device-code.ts';
import type { DeviceApproval, DeviceSignIn } from '../ports/device-sign-ins.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { userCodeDigest } from './device-sign-in-digests.ts';

/** Records the decision on the sign-in of a device; no `approval` denies it. @throws `device_sign_in_decided` */
export async function recordDeviceDecision(
  { userCode, approval }: { readonly userCode: string; readonly approval: DeviceApproval | undefined },
  context: CommandContext,
  { vault, deviceSignIns }: Pick<DeviceSignInDependencies, 'vault' | 'deviceSignIns'>,
): Promise<DeviceSignIn> {
  const decided = await deviceSignIns.decide(
    userCodeDigest(parseUserCode(userCode) ?? '', vault),
    approval,
    context.now(),
  );
  if (!decided) throw refusal('device_sign_in_decided');
  return decided;
}
