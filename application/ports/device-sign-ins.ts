/** Whose session a device gets: the approver's, as they stood when they approved. */
export type DeviceApproval = { readonly userId: string; readonly tenant: string; readonly sessionsRevision: number };

export type DeviceSignIn = { readonly createdAt: Date; readonly expiresAt: Date; readonly status: 'pending' | 'approved' | 'denied' };

export type DevicePoll =
  | { readonly outcome: 'pending' | 'slow_down' | 'denied' | 'expired' }
  /** Answered once: this call used the approval up. */
  | { readonly outcome: 'approved'; readonly approval: DeviceApproval };

/** Sign-ins of devices in `operational` (rule 1: no history). Both codes come and are kept as digests only. */
export type DeviceSignIns = {
  /** @returns false when the user code is taken */
  open(signIn: { readonly deviceDigest: string; readonly userDigest: string; readonly createdAt: Date; readonly expiresAt: Date }): Promise<boolean>;
  /** @returns undefined for a code that is none, or has expired */
  find(userDigest: string, now: Date): Promise<DeviceSignIn | undefined>;
  /** Approves (with an approval) or denies. @returns undefined when it was decided before, or has expired: of several that come together one wins */
  decide(userDigest: string, approval: DeviceApproval | undefined, now: Date): Promise<DeviceSignIn | undefined>;
  /** One look of the device. A pending sign-in is told at most every `intervalMs`; whatever is final is told at once. */
  poll(deviceDigest: string, look: { readonly now: Date; readonly intervalMs: number }): Promise<DevicePoll>;
  /** Makes an approval usable again whose session could not be opened. */
  giveBack(deviceDigest: string): Promise<void>;
  /** Removes those that expired before `now`. @returns how many */
  purge(now: Date): Promise<number>;
};
