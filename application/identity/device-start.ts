import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { showUserCode } from '../../domain/identity/device-code.ts';
import type { Vault } from '../ports/vault.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { spendCounter } from './spend-counter.ts';

/** What a device that wants to be signed in is told (spec 1, device sign-in). */
export type DeviceStart = {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string;
  readonly expiresIn: number;
  readonly interval: number;
};

/** Codes live ten minutes; the device asks every five seconds (spec 4 A, sign-in details). */
const TTL_SECONDS = 600;
export const POLL_SECONDS = 5;

/** Starts of one client address that a quarter of an hour allows. */
const STARTS = { limit: 60, windowSeconds: 900 } as const;
const TRIES = 5;

/** Begins a sign-in for a device without a browser. @throws `device_not_configured`, `rate_limited` */
export async function startDeviceSignIn(
  { consoleUrl, secrets, vault, deviceSignIns, rateCounters }: Pick<IdentityDependencies, 'consoleUrl' | 'secrets' | 'vault' | 'deviceSignIns' | 'rateCounters'>,
  { clientAddress }: { readonly clientAddress: string },
  context: CommandContext,
): Promise<DeviceStart> {
  if (consoleUrl === undefined) throw refusal('device_not_configured');
  await spendCounter(rateCounters, { scope: `device/start/${clientAddress}`, ...STARTS });
  const deviceCode = secrets.refreshToken();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + TTL_SECONDS * 1000);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const code = secrets.userCode();
    if (!(await deviceSignIns.open({ deviceDigest: deviceDigest(vault, deviceCode), userDigest: userCodeDigest(vault, code), createdAt, expiresAt }))) continue;
    const userCode = showUserCode(code);
    const verificationUri = `${consoleUrl}/admin/device`;
    return { deviceCode, userCode, verificationUri, verificationUriComplete: `${verificationUri}?user_code=${userCode}`, expiresIn: TTL_SECONDS, interval: POLL_SECONDS };
  }
  throw new Error('no user code was free');
}

/** Digest that the code of a device is kept under. */
export function deviceDigest(vault: Pick<Vault, 'digest'>, deviceCode: string): string {
  return vault.digest('sign-in/device', deviceCode);
}

/** Digest that the code which the person types is kept under. */
export function userCodeDigest(vault: Pick<Vault, 'digest'>, code: string): string {
  return vault.digest('sign-in/user-code', code);
}
