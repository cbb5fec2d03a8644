import type { CommandContext } from '../../domain/context.ts';
import type { DeviceSignIn } from '../ports/device-sign-ins.ts';
import { decideOnDeviceSignIn } from './decide-on-device-sign-in.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';

/** Denies the sign-in of a device. @throws `device_sign_in_decided` */
export function denyDeviceSignIn(
  { userCode }: { readonly userCode: string },
  context: CommandContext,
  dependencies: Pick<DeviceSignInDependencies, 'vault' | 'deviceSignIns'>,
): Promise<DeviceSignIn> {
  return decideOnDeviceSignIn({ userCode, approval: undefined }, context, dependencies);
}
