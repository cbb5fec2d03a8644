/** The session that a device receives: that of the user who approved, with the state at the time of the approval. */
export type DeviceApproval = { readonly userId: string; readonly tenant: string; readonly sessionsRevision: number };

export type DeviceSignIn = {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly status: 'pending' | 'approved' | 'denied';
};

export type DevicePoll =
  | { readonly outcome: 'pending' | 'slow_down' | 'denied' | 'expired' }
  /** Returned once: this call consumes the approval. */
  | { readonly outcome: 'approved'; readonly approval: DeviceApproval };

/** Pending sign-ins of devices, in the schema `operational`. The two codes are passed and stored as digests only. */
export type DeviceSignIns = {
  /** @returns false when the user code is taken */
  open(signIn: {
    readonly deviceDigest: string;
    readonly userDigest: string;
    readonly createdAt: Date;
    readonly expiresAt: Date;
  }): Promise<boolean>;
  /** @returns undefined when the code is unknown or has expired */
  find(userDigest: string, now: Date): Promise<DeviceSignIn | undefined>;
  /**
   * Approves (with an approval) or denies (without). Of concurrent calls, one decides.
   * @returns undefined when the sign-in was already decided or has expired
   */
  decide(userDigest: string, approval: DeviceApproval | undefined, now: Date): Promise<DeviceSignIn | undefined>;
  /**
   * One poll by the device. A poll of a pending sign-in within `intervalMs` of the previous one returns `slow_down`;
   * final outcomes are returned without delay.
   */
  poll(deviceDigest: string, options: { readonly now: Date; readonly intervalMs: number }): Promise<DevicePoll>;
  /** Restores an approval that was consumed, when the session could not be opened. */
  markUnused(deviceDigest: string): Promise<void>;
  /** Deletes sign-ins that expired before `now`. @returns the number deleted */
  sweep(now: Date): Promise<number>;
};
