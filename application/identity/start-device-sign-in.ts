import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { formatUserCode } from '../../domain/identity/device-code.ts';
import { consumeRateLimit } from '../traffic/consume-limit.ts';
import type { StartDeviceSignInDependencies } from './device-sign-in-dependencies.ts';
import { deviceCodeDigest, userCodeDigest } from './device-sign-in-digests.ts';

/** The device authorization response (RFC 8628). */
export type DeviceStart = {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** Seconds between two polls of the device. */
  readonly interval: number;
};

const TTL_SECONDS = 600;
export const POLL_SECONDS = 5;

/** Limit of the sign-ins that one client address may start in 15 minutes. */
const STARTS = { limit: 60, windowSeconds: 900 } as const;
const MAX_ATTEMPTS = 5;

/** Starts the sign-in of a device without a browser. @throws `device_not_configured`, `rate_limited` */
export async function startDeviceSignIn(
  { clientNetwork }: { readonly clientNetwork: string },
  context: CommandContext,
  { consoleUrl, secrets, vault, deviceSignIns, rateCounters }: StartDeviceSignInDependencies,
): Promise<DeviceStart> {
  if (consoleUrl === undefined) throw refusal('device_not_configured');
  await consumeRateLimit({ scope: `device/start/${clientNetwork}`, ...STARTS }, { rateCounters });
  const deviceCode = secrets.refreshToken();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + TTL_SECONDS * 1000);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const code = secrets.userCode();
    const opened = await deviceSignIns.open({
      deviceDigest: deviceCodeDigest(deviceCode, vault),
      userDigest: userCodeDigest(code, vault),
      createdAt,
      expiresAt,
    });
    if (!opened) continue;
    const userCode = formatUserCode(code);
    const verificationUri = `${consoleUrl}/admin/device`;
    return {
      deviceCode,
      userCode,
      verificationUri,
      verificationUriComplete: `${verificationUri}?user_code=${userCode}`,
      expiresIn: TTL_SECONDS,
      interval: POLL_SECONDS,
    };
  }
  throw new Error(`no free user code after ${MAX_ATTEMPTS} attempts`);
}
