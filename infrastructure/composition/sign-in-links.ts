import type { IdentityDependencies } from '../../application/identity/dependencies.ts';
import type { MagicLinkOptions } from '../../application/identity/magic-link-dependencies.ts';
import { autoCreateRoles, linkLifetime } from '../../domain/identity/magic-link.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { createDeviceSignIns } from '../identity/device-sign-ins.ts';
import { createMagicLinks } from '../identity/magic-links.ts';
import type { Database } from '../postgres/database.ts';

export type SignInLinks = Pick<IdentityDependencies, 'magicLinks' | 'magicLinkOptions' | 'deviceSignIns'>;

/** Sign-in without a password: by mailed links, and of devices. */
export function composeSignInLinks({ database, magicLinkOptions }: { readonly database: Database; readonly magicLinkOptions: MagicLinkOptions }): SignInLinks {
  return { magicLinks: createMagicLinks({ database }), magicLinkOptions, deviceSignIns: createDeviceSignIns({ database }) };
}

/** The settings of magic links as they hold (spec 1, magic-link sign-in). */
export function magicLinkOptionsOf(settings: Settings): MagicLinkOptions {
  return {
    ttlSeconds: linkLifetime(settings.magicLinkTtlSeconds),
    autoCreate: settings.magicLinkAutoCreate,
    autoCreateRoles: autoCreateRoles(settings.magicLinkAutoCreateRoles),
    allowedHosts: settings.magicLinkAllowedHosts,
    requireResolvedTenant: settings.magicLinkRequireResolvedTenant,
  };
}

/** How often records of links are looked at. */
export const MAGIC_LINK_SWEEP_MS = 15 * 60_000;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Removes records of links that work no more, and the history of sign-ins, after their time. @returns how many rows */
export async function sweepMagicLinks({ magicLinks }: Pick<SignInLinks, 'magicLinks'>, settings: Pick<Settings, 'magicLinkRetentionDays' | 'magicLinkTokenRetentionMinutes'>, now: Date): Promise<number> {
  const { magicLinkRetentionDays: days, magicLinkTokenRetentionMinutes: minutes } = settings;
  const links = await magicLinks.purge(new Date(now.getTime() - minutes * MINUTE_MS), now);
  return links + (days > 0 ? await magicLinks.purgeHistory(new Date(now.getTime() - days * DAY_MS)) : 0);
}
