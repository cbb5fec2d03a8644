import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { parseUserCode } from '../../domain/identity/device-code.ts';
import type { DeviceSignIn } from '../ports/device-sign-ins.ts';
import { consumeRateLimit } from '../traffic/consume-limit.ts';
import type { DeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { userCodeDigest } from './device-sign-in-digests.ts';

/** Limit of the codes that one user may look up in ten minutes, existing or not. It prevents guessing a code. */
const LOOKUPS = { limit: 30, windowSeconds: 600 } as const;

/**
 * Finds the pending sign-in of a device by the code that the device shows. Each lookup counts.
 * @throws `device_sign_in_not_found`, `rate_limited`
 */
export async function findDeviceSignIn(
  { userCode, userId }: { readonly userCode: string; readonly userId: string },
  context: CommandContext,
  { vault, deviceSignIns, rateCounters }: DeviceSignInDependencies,
): Promise<DeviceSignIn> {
  await consumeRateLimit({ scope: `device/look/${userId}`, ...LOOKUPS }, { rateCounters });
  const code = parseUserCode(userCode);
  const found = code === undefined ? undefined : await deviceSignIns.find(userCodeDigest(code, vault), context.now());
  if (!found) throw refusal('device_sign_in_not_found');
  return found;
}
