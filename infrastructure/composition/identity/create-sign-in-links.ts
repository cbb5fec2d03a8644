import type { DeviceSignInDependencies } from '../../../application/identity/device-sign-in-dependencies.ts';
import type { RequestMagicLinkDependencies } from '../../../application/identity/magic-link-dependencies.ts';
import type { MagicLinkOptions } from '../../../application/identity/magic-link-options.ts';
import { autoCreateRoles, linkLifetime } from '../../../domain/identity/magic-link.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createDeviceSignIns } from '../../identity/device-sign-ins.ts';
import { createMagicLinks } from '../../identity/magic-links.ts';
import type { Database } from '../../postgres/database.ts';

export type SignInLinks = Pick<RequestMagicLinkDependencies, 'magicLinks' | 'magicLinkOptions'> &
  Pick<DeviceSignInDependencies, 'deviceSignIns'>;

/** Sign-in without a password: by mailed links, and of devices. */
export function createSignInLinks({
  database,
  magicLinkOptions,
}: {
  readonly database: Database;
  readonly magicLinkOptions: MagicLinkOptions;
}): SignInLinks {
  return {
    magicLinks: createMagicLinks({ database }),
    magicLinkOptions,
    deviceSignIns: createDeviceSignIns({ database }),
  };
}

/**
 * The `MAGIC_LINK_*` settings. The lifetime is clamped to its range; a list of roles with an admin role is ignored as a
 * whole.
 */
export function magicLinkOptionsOf(settings: Settings): MagicLinkOptions {
  return {
    ttlSeconds: linkLifetime(settings.magicLinkTtlSeconds),
    autoCreate: settings.magicLinkAutoCreate,
    autoCreateRoles: autoCreateRoles(settings.magicLinkAutoCreateRoles),
    allowedHosts: settings.magicLinkAllowedHosts,
    requireResolvedTenant: settings.magicLinkRequireResolvedTenant,
  };
}
