import type { DeviceSignIns } from '../ports/device-sign-ins.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { RandomSecrets } from '../ports/random-secrets.ts';
import type { RateCounters } from '../ports/rate-counters.ts';
import type { Vault } from '../ports/vault.ts';
import type { CompleteSignInDependencies } from './sign-in-dependencies.ts';

/** Finds and decides pending sign-ins of devices. */
export type DeviceSignInDependencies = {
  readonly deviceSignIns: DeviceSignIns;
  /** Makes the digests under which the codes are stored. */
  readonly vault: Pick<Vault, 'digest'>;
  readonly rateCounters: Pick<RateCounters, 'take'>;
};

/** Answers devices that poll for their approval. */
export type PollDeviceSignInDependencies = CompleteSignInDependencies & {
  readonly reads: IdentityReads;
  readonly deviceSignIns: DeviceSignIns;
};

/** Starts sign-ins of devices. */
export type StartDeviceSignInDependencies = DeviceSignInDependencies & {
  readonly secrets: RandomSecrets;
  /** `SVC_CONSOLE_URL` without a trailing slash; undefined when it is not set. */
  readonly consoleUrl: string | undefined;
};
