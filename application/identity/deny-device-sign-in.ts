import type { CommandContext } from '../../domain/context.ts';
import type { DeviceSignIn } from '../ports/device-sign-ins.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { recordDeviceDecision } from './record-device-decision.ts';

/** Denies the sign-in of a device. @throws `device_sign_in_decided` */
export function denyDeviceSignIn(
  { userCode }: { readonly userCode: string },
  context: CommandContext,
  dependencies: Pick<DeviceSignInDependencies, 'vault' | 'deviceSignIns'>,
): Promise<DeviceSignIn> {
  return recordDeviceDecision({ userCode, approval: undefined }, context, dependencies);
}
