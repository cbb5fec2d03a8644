import type { DeviceSignInDependencies } from '../../../application/identity/device-sign-in-dependencies.ts';
import type { RequestMagicLinkDependencies } from '../../../application/identity/magic-link-dependencies.ts';
import type { MagicLinkOptions } from '../../../application/identity/magic-link-options.ts';
import { autoCreateRoles, linkLifetime } from '../../../domain/identity/magic-link.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createDeviceSignIns } from '../../identity/device-sign-ins.ts';
import { createMagicLinks } from '../../identity/magic-links.ts';
import type { Database } from '../../postgres/database.ts';
import type { Worker } from '../module.ts';
import type { Platform } from '../platform/platform.ts';

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

/** Pause between two sweeps of magic links. */
const SWEEP_MS = 15 * 60_000;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Runs `sweepMagicLinks` every 15 minutes. */
export function magicLinkSweeper(
  links: Pick<SignInLinks, 'magicLinks'>,
  { every, settings, now, logger }: Pick<Platform, 'every' | 'settings' | 'now' | 'logger'>,
): Worker {
  return {
    name: 'sweep magic links',
    role: 'scheduler',
    start() {
      const stop = every(SWEEP_MS, async () => {
        await sweepMagicLinks(links, settings, now()).catch((error: unknown) => {
          logger.warn('records of magic links could not be deleted', { reason: String(error) });
        });
      });
      return Promise.resolve({
        stop() {
          stop();
          return Promise.resolve();
        },
      });
    },
  };
}

/**
 * Deletes links that no longer work after `MAGIC_LINK_TOKEN_RETENTION_MINUTES`, and the history of sign-ins after
 * `MAGIC_LINK_RETENTION_DAYS` (0 keeps it).
 * @returns number of rows deleted
 */
async function sweepMagicLinks(
  { magicLinks }: Pick<SignInLinks, 'magicLinks'>,
  settings: Pick<Settings, 'magicLinkRetentionDays' | 'magicLinkTokenRetentionMinutes'>,
  now: Date,
): Promise<number> {
  const { magicLinkRetentionDays: days, magicLinkTokenRetentionMinutes: minutes } = settings;
  const links = await magicLinks.purge(new Date(now.getTime() - minutes * MINUTE_MS), now);
  return links + (days > 0 ? await magicLinks.purgeHistory(new Date(now.getTime() - days * DAY_MS)) : 0);
}
